//! Queues of requests that wait for a pipeline, and how finished transactions wake them.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use tokio::sync::Notify;

use super::latency::StatementLatencies;

/// The queues of one pool. Pipelines report finished transactions here, which wakes the first request of each queue.
pub(super) struct WaitQueues {
    pub(super) latencies: RefCell<StatementLatencies>,
    /// Requests that may share a pipeline.
    pub(super) shared: WaitQueue,
    /// Slow ones, which need a pipeline for themselves.
    pub(super) slow: WaitQueue,
    /// Others that need one: statements that were never seen, and transactions that need a connection exclusively.
    pub(super) unknown: WaitQueue,
}

impl WaitQueues {
    /// Empty queues; statements that take `slow_statement` or longer count as slow.
    pub(super) fn new(slow_statement: Duration) -> Self {
        Self {
            latencies: RefCell::new(StatementLatencies::new(slow_statement)),
            shared: WaitQueue::default(),
            slow: WaitQueue::default(),
            unknown: WaitQueue::default(),
        }
    }

    /// Wakes requests, since a pipeline may have become free: the first of each queue, and all of the unknown ones, since
    /// the first of them may not be allowed to run where the next one is.
    pub(super) fn notify(&self) {
        self.shared.freed.notify_one();
        self.slow.freed.notify_one();
        self.unknown.freed.notify_waiters();
    }
}

/// Requests that wait for a pipeline, first come, first served.
#[derive(Default)]
pub(super) struct WaitQueue {
    /// Wakes the first of them.
    pub(super) freed: Notify,
    length: Cell<usize>,
}

impl WaitQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.length.get() == 0
    }

    /// Counts a request as waiting until the guard is dropped.
    pub(super) fn join(&self) -> WaitGuard<'_> {
        self.length.set(self.length.get() + 1);
        WaitGuard(self)
    }
}

/// A request's place in a [`WaitQueue`].
pub(super) struct WaitGuard<'a>(&'a WaitQueue);

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.0.length.set(self.0.length.get().saturating_sub(1));
    }
}
