//! How often one client may ask for one rendered path: a few times a second over windows of four seconds.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_secs(4);
/// Clients and paths that are remembered; beyond it, those whose window is over are forgotten.
const MOST: usize = 100_000;

/// Counts requests of this process.
#[derive(Debug)]
pub(super) struct RateLimit {
    per_window: u32,
    hasher: RandomState,
    windows: Mutex<HashMap<(IpAddr, u64), Window>>,
}

#[derive(Debug)]
struct Window {
    began: Instant,
    requests: u32,
}

impl RateLimit {
    pub(super) fn new(per_second: u32) -> Self {
        Self {
            per_window: per_second.saturating_mul(4),
            hasher: RandomState::new(),
            windows: Mutex::default(),
        }
    }

    /// Whether a request may pass. Compat: one that may not begins the client's window anew.
    pub(super) fn admits(&self, client: IpAddr, path: &str, now: Instant) -> bool {
        let key = (client, self.hasher.hash_one(path));
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= MOST && !windows.contains_key(&key) {
            windows.retain(|_, window| now.duration_since(window.began) < WINDOW);
            if windows.len() >= MOST {
                // So many clients at once are beyond what counting can help.
                return true;
            }
        }
        let window = windows.entry(key).or_insert(Window {
            began: now,
            requests: 0,
        });
        if now.duration_since(window.began) >= WINDOW {
            *window = Window {
                began: now,
                requests: 0,
            };
        }
        window.requests = window.requests.saturating_add(1);
        let admitted = window.requests <= self.per_window;
        if !admitted {
            window.began = now;
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_093_a_client_waits_after_too_many_requests_for_one_path() {
        let limit = RateLimit::new(1);
        let (ana, bob): (IpAddr, IpAddr) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);

        let first: Vec<bool> = (0..6).map(|_| limit.admits(ana, "/a", start)).collect();

        assert_eq!(first, [true, true, true, true, false, false]);
        assert!(limit.admits(ana, "/b", start) && limit.admits(bob, "/a", start));
        assert!(!limit.admits(ana, "/a", at(3)), "it asked again, and waits anew");
        assert!(!limit.admits(ana, "/a", at(6)));
        assert!(limit.admits(ana, "/a", at(10)));
    }
}
