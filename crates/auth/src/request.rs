//! What handlers ask for in their signatures: who may call, and what was sent.

mod body;
mod caller;
mod info;

pub(crate) use body::{Json, OptionalJson, metadata, text};
pub(crate) use caller::{Admin, SignedIn};
pub(crate) use info::RequestInfo;
