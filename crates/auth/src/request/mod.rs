//! Extractors for handlers: the request with the service's state ([`AuthRequest`]), its caller ([`SignedIn`],
//! [`AnySession`], [`Admin`]), its query and its body. Each fails with the error that the contract gives for it.

mod auth_request;
mod body;
mod caller;
mod client_version;
mod info;
mod query;

pub(crate) use auth_request::AuthRequest;
pub(crate) use body::{Form, Json, OptionalJson, read_flag, read_metadata, read_new_metadata, read_text};
pub(crate) use caller::{Admin, AnySession, OTHER_AUDIENCE, SignedIn};
pub(crate) use client_version::ClientVersion;
pub(crate) use info::RequestInfo;
pub(crate) use query::Query;
