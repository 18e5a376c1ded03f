//! Configuration → settings of the gateway.

use selvedge_gateway::{GatewayConfig, SharedRequestListener};

use crate::config::Config;
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
        listener,
    }
}
