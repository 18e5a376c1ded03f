//! The HTTP gateway: every request passes through it before it reaches a service, and every response before it is sent.
//!
//! In: raw HTTP requests. Out: requests with a [`Caller`] attached (verified token, API key, address),
//! and responses with CORS headers and a request id. The gateway refuses requests that lack a required key, are too
//! large or take too long, and writes metrics and logs. Which rows a caller may see is decided by PostgreSQL alone.
//!
//! Source of all behaviour: the gateway contract, §1–§4.

mod body;
mod cors;
mod error;
mod go_duration;
mod listener;
pub mod logging;
pub mod metrics;
mod middleware;
mod paths;
mod request_id;
mod routes;
mod tasks;

pub use actix_http::Request as UpgradeRequest;
pub use actix_server::ServerBuilder;
pub use body::{BodyError, BodyForm, BodyLimits, read_body};
pub use cors::{AllowedOrigin, CorsPolicy};
pub use error::{GatewayError, json_error_response};
pub use go_duration::parse_go_duration_nanos;
#[cfg(fuzzing)]
pub use listener::fuzzing;
pub use listener::{
    ConnectionLimits, Drain, Hold, Listener, LocalHosts, TransferLimits, UpgradeDecision, UpgradeHandler,
    UpgradedStream, listen, listen_with_upgrades, open_connections,
};
pub use middleware::{
    Bearer, BodyCheck, Caller, ContinueCheck, Credentials, Gateway, GatewayConfig, Keys, RequestListener,
    RequestRecord, SharedRequestListener, UnknownAddress, accepts_coding, find_client_address,
    find_written_timeline, read_last_address, set_last_writer, wrote_elsewhere,
};
pub use paths::{routed_path, sent_path};
pub use request_id::{RequestId, TraceId};
pub use routes::Service;
pub use tasks::compute_priority;
pub use tasks::{keep_running, list_panicked_tasks, note_panic};
