//! Counters of the request pools of all workers, for `/metrics` and the admin server.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Counters of one database's request pools. Atomics: an event costs one addition and no lock.
#[derive(Debug, Default)]
pub struct PoolMetrics {
    timeouts: AtomicU64,
    waiting: AtomicI64,
    running: AtomicI64,
}

/// The counters' values at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolMetricsSnapshot {
    /// Requests that failed because no connection became free in time, since the start.
    pub timeouts: u64,
    /// Requests that wait for a connection now.
    pub waiting: i64,
    /// Request transactions that run now.
    pub running: i64,
}

impl PoolMetrics {
    /// Reads the counters.
    pub fn snapshot(&self) -> PoolMetricsSnapshot {
        PoolMetricsSnapshot {
            timeouts: self.timeouts.load(Ordering::Relaxed),
            waiting: self.waiting.load(Ordering::Relaxed),
            running: self.running.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn count_timeout(&self) {
        self.timeouts.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request as waiting until the returned guard is dropped.
    pub(crate) fn count_waiting(&self) -> GaugeGuard<'_> {
        GaugeGuard::increment(&self.waiting)
    }

    /// Counts a transaction as running until the returned guard is dropped.
    pub(crate) fn count_running(&self) -> GaugeGuard<'_> {
        GaugeGuard::increment(&self.running)
    }
}

/// Adds one to a gauge until it is dropped.
pub(crate) struct GaugeGuard<'a>(&'a AtomicI64);

impl<'a> GaugeGuard<'a> {
    fn increment(gauge: &'a AtomicI64) -> Self {
        gauge.fetch_add(1, Ordering::Relaxed);
        Self(gauge)
    }
}

impl Drop for GaugeGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
