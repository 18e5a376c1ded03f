//! Configuration → settings of the gateway.

use actix_web::http::header::HeaderValue;
use selvedge_config::Config;
use selvedge_gateway::{GatewayConfig, SharedRequestListener};

use crate::services::memory_plan::MemoryPlan;

/// The settings of the gateway. `listener` is told of every request.
pub(in crate::services) fn gateway_config(
    config: &Config,
    memory: &MemoryPlan,
    listener: Option<SharedRequestListener>,
) -> GatewayConfig {
    let limits = &config.selvedge.limits;
    GatewayConfig {
        request_timeout: limits.request_timeout,
        max_in_flight_per_worker: limits.in_flight_per_worker,
        max_streaming_per_worker: limits.streaming_per_worker,
        max_unread_bytes_per_worker: memory.unread_per_worker,
        memory: memory.budget.clone(),
        compress_responses: config.selvedge.compress_responses,
        trusted_proxies: limits.trusted_proxies,
        access_log: config.selvedge.access_log,
        slow_request: limits.slow_request,
        hsts: hsts(config),
        listener,
    }
}

/// For how long browsers use HTTPS only, where the server obtains its certificates and somebody has asked for it.
fn hsts(config: &Config) -> Option<HeaderValue> {
    let seconds = config.acme()?.hsts.as_secs();
    (seconds > 0)
        .then(|| HeaderValue::from_str(&format!("max-age={seconds}")).ok())
        .flatten()
}
