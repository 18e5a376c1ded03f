//! What every request passes before it reaches a service, and every answer before it leaves.
//!
//! In: raw HTTP requests. Out: requests with a [`Caller`] attached (who is asking, with which key), and
//! answers with CORS headers and a request id. The gateway refuses what lacks a key where one is needed, what is too
//! large and what takes too long; it counts and logs. It never decides what a caller may see: that is PostgreSQL's.
//!
//! Source of all behaviour: the gateway contract, §1–§4.

pub mod background;
mod caller;
mod cors;
mod error;
mod intake;
mod keys;
mod listen;
pub mod metrics;
mod middleware;
mod request_id;
mod routes;
pub mod telemetry;
mod visitors;

pub use actix_server::ServerBuilder;
pub use caller::{Bearer, Caller};
pub use error::{GatewayError, json_error};
pub use keys::Keys;
pub use listen::{ConnectionLimits, Listener, listen};
pub use middleware::{Gateway, GatewayConfig};
pub use request_id::RequestId;
pub use routes::Service;
