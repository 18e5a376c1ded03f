//! First stage: method, URL, headers and body → [`ApiRequest`]. Knows HTTP and the query language, and no tables.
//!
//! Strings stop here: the later stages match on closed enums. This stage is pure: no I/O.

mod action;
mod api_request;
pub mod ast;
pub mod body;
pub mod csv_document;
pub(crate) mod grammar;
pub mod headers;
pub mod media;
mod parser;
pub mod preferences;
pub mod query;
pub mod range;

pub use action::{Action, Invoke, Mutation};
pub use api_request::ApiRequest;
