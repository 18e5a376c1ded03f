//! What all pools of a database have in common: counters, and who drives connections that threads share.

mod metrics;
mod shared;

pub use metrics::{PoolMetrics, PoolMetricsSnapshot};
pub(crate) use shared::SharedPools;
