//! The requests that a simulation explains, as they were sent.

mod condition;
mod page;
mod rest_request;
mod verb;

pub(crate) use condition::{Condition, build_condition};
pub use page::{OrderTerm, Page};
pub(crate) use rest_request::parse_rest_request;
pub(crate) use verb::TextParam;
pub use verb::{Filter, Request, RowId, Subject, UnsavedPolicy, Verb, VerbRequest};
