//! The announcement that this process is going to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Requests are served, and connections kept.
const SERVES: u8 = 0;
/// Another process has the listeners; this one ends with its connections.
const HANDED_OVER: u8 = 1;
/// The listeners are going to close.
const STOPS: u8 = 2;

/// Whether this process is going to end. Clones share the state.
///
/// Between the announcement and the end, requests are still served. Their responses carry `Connection: close`, so that clients and proxies open
/// their next connection elsewhere: a connection that is closed while it is idle may have just been chosen for a request, which then fails.
#[derive(Debug, Clone, Default)]
pub struct Drain {
    state: Arc<AtomicU8>,
}

impl Drain {
    /// Announces the stop. It cannot be taken back.
    pub fn begin(&self) {
        self.state.fetch_max(STOPS, Ordering::Relaxed);
    }

    /// Announces that another process serves on the same ports, so that load balancers need not look for another node.
    pub fn hand_over(&self) {
        self.state.fetch_max(HANDED_OVER, Ordering::Relaxed);
    }

    /// Whether the stop has been announced.
    pub fn has_begun(&self) -> bool {
        self.state.load(Ordering::Relaxed) == STOPS
    }

    /// Whether connections close after their next response.
    pub(crate) fn closes_connections(&self) -> bool {
        self.state.load(Ordering::Relaxed) != SERVES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_004_a_process_that_has_handed_over_closes_connections_and_stays_ready() {
        let drain = Drain::default();
        let seen = |drain: &Drain| (drain.closes_connections(), drain.has_begun());
        assert_eq!(seen(&drain), (false, false));

        drain.hand_over();
        assert_eq!(seen(&drain), (true, false));
        drain.begin();
        drain.hand_over();

        assert_eq!(seen(&drain), (true, true));
    }
}
