//! The service over HTTP, on a real PostgreSQL. Names carry the checklist ids of the REST contract, §12.

mod alone;
mod bad_input;
mod call;
mod catalog;
mod embed;
mod errors;
mod golden;
mod http;
mod identity;
mod media;
mod museum;
mod museum_http;
mod museum_objects;
mod museum_write;
mod raw_input;
mod read;
mod recovery;
mod round_trip;
mod settings;
mod shapes;
mod standalone;
mod support;
mod write;
