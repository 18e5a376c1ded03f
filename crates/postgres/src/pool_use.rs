//! How the connections of all workers are used, for those who watch.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Counters of one database's request pools. One addition per event; nobody waits for anybody.
#[derive(Debug, Default)]
pub struct PoolUse {
    timeouts: AtomicU64,
    waiting: AtomicI64,
    running: AtomicI64,
}

/// What the counters say at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolUseReport {
    /// Requests that waited too long for a connection.
    pub timeouts: u64,
    /// Requests that wait for one now.
    pub waiting: i64,
    /// Request transactions that are being run.
    pub running: i64,
}

impl PoolUse {
    /// What the counters say now.
    pub fn report(&self) -> PoolUseReport {
        PoolUseReport {
            timeouts: self.timeouts.load(Ordering::Relaxed),
            waiting: self.waiting.load(Ordering::Relaxed),
            running: self.running.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn timed_out(&self) {
        self.timeouts.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request as waiting for as long as the answer lives.
    pub(crate) fn wait(&self) -> Counted<'_> {
        Counted::in_gauge(&self.waiting)
    }

    /// Counts a transaction as running for as long as the answer lives.
    pub(crate) fn run(&self) -> Counted<'_> {
        Counted::in_gauge(&self.running)
    }
}

/// One in a gauge, taken out when dropped.
pub(crate) struct Counted<'a>(&'a AtomicI64);

impl<'a> Counted<'a> {
    fn in_gauge(gauge: &'a AtomicI64) -> Self {
        gauge.fetch_add(1, Ordering::Relaxed);
        Self(gauge)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
