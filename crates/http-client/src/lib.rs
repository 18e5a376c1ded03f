//! HTTP calls to other servers, for services that make them: identity providers, hooks, captcha and messaging services
//! (Auth), requests that SQL has queued (jobs), and generators of pictures (generator).
//!
//! In: method, URL, headers and body of one request, with its limits. Out: the response, as a whole or in chunks, or an error
//! that names only the host. The crate follows no redirects and stores nothing. The only protocol above HTTP that it implements is
//! the signature of Standard Webhooks. Which private addresses and ports may be called is decided where the client is created.

mod client;
mod connect;
mod error;
mod response_body;
mod webhook;

pub use client::{
    Call, CallFuture, CallResponse, DEFAULT_MAX_RESPONSE_BYTES, DEFAULT_TIMEOUT, HttpClient, StreamedResponse,
};
pub use connect::{Addresses, Resolution, ResolveName, is_private};
pub use error::{CallError, FailedStep};
pub use webhook::{WebhookKey, signed_post};
