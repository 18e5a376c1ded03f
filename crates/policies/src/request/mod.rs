//! What is simulated, as it was sent.

mod condition;
mod rest;
mod verb;

pub(crate) use condition::{Condition, build_condition};
pub(crate) use rest::parse_rest_request;
pub(crate) use verb::TextParam;
pub use verb::{Filter, Request, RowId, Subject, UnsavedPolicy, Verb, VerbRequest};
