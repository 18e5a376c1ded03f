//! The extension http: a statement sends a request over a socket and waits for the response.
//!
//! `listener` implements PostgreSQL's protocol, which the extension speaks by dblink; `exchange` parses the request, has it
//! sent and renders the response, both in JSON.

mod exchange;
mod listener;

pub use listener::serve_http_requests;
