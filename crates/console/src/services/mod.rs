//! Calls of the project's services within this process, through the same gateway and paths as requests of clients.

mod call;
mod thread_api;

pub(crate) use call::{Answer, Call, api_host, call_service};
pub(crate) use thread_api::ThreadApi;
