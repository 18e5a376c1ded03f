//! Limits and logging of the gateway.

use std::time::Duration;

use actix_web::http::header::HeaderValue;
use selvedge_memory::MemoryBudget;

use super::request_log::SharedRequestListener;

/// Limits and logging of the gateway.
#[derive(Debug, Clone)]
pub struct GatewayConfig {
    /// How long a request may take. Not for storage, realtime and functions, whose bodies stream. Default 60 s.
    pub request_timeout: Duration,
    /// Requests in flight per worker whose bodies are small: rest, auth, realtime, the site. Further ones are refused with
    /// 503. Default 2 000.
    pub max_in_flight_per_worker: usize,
    /// Requests to storage and functions in progress per worker, until their responses were sent. Default 2 000.
    pub max_streaming_per_worker: usize,
    /// Bytes of large responses (64 KiB or more) per worker that clients have not read yet; further ones are refused
    /// with 503. Default 128 MiB.
    pub max_unread_bytes_per_worker: usize,
    /// While it is short, further requests are refused with 503. Default unlimited.
    pub memory: MemoryBudget,
    /// Whether responses of REST are compressed for clients that accept it. Default true.
    pub compress_responses: bool,
    /// Number of proxies in front of this server whose entries in `X-Forwarded-For` are trusted. Default 0.
    pub trusted_proxies: usize,
    /// Writes a log line for every request, not only for failed (5xx) and slow ones. Default false.
    pub access_log: bool,
    /// A request that takes longer is logged. Default 1 s.
    pub slow_request: Duration,
    /// `Strict-Transport-Security` of every response. Default: none.
    pub hsts: Option<HeaderValue>,
    /// Called for every answered request. Default: none.
    pub listener: Option<SharedRequestListener>,
}

impl Default for GatewayConfig {
    fn default() -> Self {
        Self {
            request_timeout: Duration::from_secs(60),
            max_in_flight_per_worker: 2_000,
            max_streaming_per_worker: 2_000,
            max_unread_bytes_per_worker: 128 * 1024 * 1024,
            memory: MemoryBudget::unlimited(),
            compress_responses: true,
            trusted_proxies: 0,
            access_log: false,
            slow_request: Duration::from_secs(1),
            hsts: None,
            listener: None,
        }
    }
}
