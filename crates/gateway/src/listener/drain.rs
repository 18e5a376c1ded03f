//! The announcement that this process is going to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process is going to stop. Clones share the state.
///
/// Between the announcement and the moment at which the listeners close, requests are still served. Their responses carry
/// `Connection: close`, so that clients and proxies open their next connection elsewhere: a connection that is closed while
/// it is idle may have just been chosen for a request, which then fails.
#[derive(Debug, Clone, Default)]
pub struct Drain {
    has_begun: Arc<AtomicBool>,
}

impl Drain {
    /// Announces the stop. It cannot be taken back.
    pub fn begin(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }

    /// Whether the stop has been announced.
    pub fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }
}
