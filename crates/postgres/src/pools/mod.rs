//! What all pools of a database have in common: counters, the limit of idle transactions, and who drives connections that threads
//! share.

mod idle_limit;
mod metrics;
mod shared;

pub(crate) use idle_limit::limit_idle_transactions;
pub use metrics::{PoolMetrics, PoolMetricsSnapshot};
pub(crate) use shared::SharedPools;
