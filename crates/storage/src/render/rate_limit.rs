//! Limits how often one client may request one rendered path, over windows of four seconds.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_secs(4);
/// Most pairs of client and path that are counted at a time; beyond it, those whose window is over are dropped.
const MAX_WINDOWS: usize = 100_000;

/// Counts the requests that this process serves.
#[derive(Debug)]
pub(super) struct RateLimit {
    per_window: u32,
    /// Paths are stored as hashes of fixed size. The random key keeps clients from choosing paths that collide.
    hasher: RandomState,
    windows: Mutex<HashMap<(IpAddr, u64), Window>>,
}

/// The requests of one client for one path since `began`.
#[derive(Debug)]
struct Window {
    began: Instant,
    requests: u32,
}

impl RateLimit {
    /// A limit of `per_second` requests on average over a window.
    pub(super) fn new(per_second: u32) -> Self {
        Self {
            per_window: per_second.saturating_mul(4),
            hasher: RandomState::new(),
            windows: Mutex::default(),
        }
    }

    /// Counts a request and returns whether it may pass. Compat: like in Supabase's service, a refused request restarts the
    /// window, so a client that keeps sending requests stays refused.
    pub(super) fn try_acquire(&self, client: IpAddr, path: &str, now: Instant) -> bool {
        let key = (client, self.hasher.hash_one(path));
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= MAX_WINDOWS && !windows.contains_key(&key) {
            windows.retain(|_, window| now.duration_since(window.began) < WINDOW);
            if windows.len() >= MAX_WINDOWS {
                // The table is full of active clients: let the request through rather than refuse a stranger.
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
    fn store_093_a_client_over_the_rate_limit_is_refused_for_that_path() {
        let limit = RateLimit::new(1);
        let (ana, bob): (IpAddr, IpAddr) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);

        let first: Vec<bool> = (0..6).map(|_| limit.try_acquire(ana, "/a", start)).collect();

        assert_eq!(first, [true, true, true, true, false, false]);
        assert!(limit.try_acquire(ana, "/b", start) && limit.try_acquire(bob, "/a", start));
        assert!(
            !limit.try_acquire(ana, "/a", at(3)),
            "it asked again, and waits anew"
        );
        assert!(!limit.try_acquire(ana, "/a", at(6)));
        assert!(limit.try_acquire(ana, "/a", at(10)));
    }
}
