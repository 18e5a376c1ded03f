//! The service over HTTP, on a real PostgreSQL. Test names begin with a checklist id of the REST contract, §12.

mod bad_input;
mod call;
mod catalog;
mod citus;
mod embed;
mod errors;
mod golden;
mod graphql;
mod http;
mod identity;
mod media;
mod raw_input;
mod read;
mod recovery;
mod round_trip;
mod settings;
mod shapes;
mod standalone;
mod standalone_app;
mod support;
mod transactions;
mod wide_schema;
mod wide_schema_http;
mod wide_schema_objects;
mod wide_schema_write;
mod write;
