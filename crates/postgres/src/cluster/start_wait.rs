//! Whether somebody still waits for a start of PostgreSQL, which has no deadline: after a crash it replays its log for as long as that takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Held by whoever waits for a start. Dropping it gives the start up, so that a signal ends a process in the middle of a recovery.
#[derive(Debug, Default)]
pub(super) struct StartWaiter(Arc<AtomicBool>);

impl StartWaiter {
    /// What the thread of the start looks at.
    pub(super) fn watch(&self) -> StartWatch {
        StartWatch(self.0.clone())
    }
}

impl Drop for StartWaiter {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Tells the thread of a start whether somebody waits for it.
#[derive(Debug, Clone)]
pub(super) struct StartWatch(Arc<AtomicBool>);

impl StartWatch {
    /// Whether nobody waits any more.
    pub(super) fn is_given_up(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
