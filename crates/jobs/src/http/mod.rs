//! The extension http: a statement asks for a request over a socket and waits for the response.
//!
//! `listener` speaks PostgreSQL's protocol with the library of dblink, through which the extension asks; `exchange` reads the
//! question, has the request sent and writes the answer, both in JSON.

mod exchange;
mod listener;

pub use listener::serve_http_requests;
