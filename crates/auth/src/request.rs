//! What handlers ask for in their signatures: who may call, and what was sent.

mod body;
mod caller;
mod info;
mod query;

pub(crate) use body::{Json, OptionalJson, flag, metadata, text};
pub(crate) use caller::{Admin, SignedIn};
pub(crate) use info::RequestInfo;
pub(crate) use query::Query;
