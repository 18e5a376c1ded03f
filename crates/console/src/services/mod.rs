//! Calls of the project's services in process, through the same gateway and paths as a client's.

mod call;
mod thread_api;

pub(crate) use call::{Answer, Call, api_host, call_service};
pub(crate) use thread_api::ThreadApi;
