//! How often something that clients can cause is logged.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::client::ClientId;

/// How long a client that was logged for a cause is not logged for it again.
const PAUSE: Duration = Duration::from_secs(1);
/// Most lines in [`PAUSE`] for all clients and causes together.
const MOST_LINES: usize = 100;

/// Decides which refusals are logged: one a second for each client and cause. Otherwise a client that is refused all the time would
/// fill the disk.
#[derive(Debug, Default)]
pub struct LogGate {
    logged: Mutex<HashMap<(&'static str, ClientId), Logged>>,
}

#[derive(Debug)]
struct Logged {
    at: Instant,
    silent: u64,
}

impl LogGate {
    /// A gate that has logged nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether to log now. `Some` has the number of lines that were left out for this client and cause since the last one.
    pub fn pass(&self, cause: &'static str, client: ClientId) -> Option<u64> {
        let now = Instant::now();
        let is_over = |logged: &Logged| now.duration_since(logged.at) >= PAUSE;
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = logged.get_mut(&(cause, client)) {
            if !is_over(before) {
                before.silent += 1;
                return None;
            }
            *before = Logged { at: now, ..*before };
            return Some(std::mem::take(&mut before.silent));
        }
        if logged.len() >= MOST_LINES {
            logged.retain(|_, one| !is_over(one));
        }
        if logged.len() >= MOST_LINES {
            return None;
        }
        logged.insert((cause, client), Logged { at: now, silent: 0 });
        Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_logged_once_for_each_cause_and_all_together_a_bounded_number_of_times() {
        let gate = LogGate::new();
        let client = ClientId::of_connection(None);

        assert_eq!(gate.pass("a", client), Some(0));
        assert_eq!(gate.pass("a", client), None);
        assert_eq!(gate.pass("b", client), Some(0));
        let passed = (0..1000).filter(|_| gate.pass("a", ClientId::of_connection(None)).is_some());

        assert_eq!(passed.count(), MOST_LINES - 2);
    }
}
