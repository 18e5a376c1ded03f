//! Whether several clients are there, since limits for the sake of others are for nothing where there are none.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use crate::client::ClientId;

/// By default a client that has sent nothing for longer is not there any more. It has sent one request after the other, or its next one will be
/// protected when it comes.
const PRESENT_FOR: Duration = Duration::from_millis(100);

/// Notes who sends requests. Cheap to clone; all clones know of the same clients.
#[derive(Debug, Clone)]
pub struct Presence(Arc<Seen>);

#[derive(Debug)]
struct Seen {
    made: Instant,
    present_for: Duration,
    hasher: RandomState,
    /// A hash of the client whose request came last; 0 for none.
    last: AtomicU64,
    /// When a request came of another client than the one before it, in milliseconds since `made`, and one more; 0 for never.
    changed: AtomicU64,
}

impl Default for Presence {
    fn default() -> Self {
        Self::lasting(PRESENT_FOR)
    }
}

impl Presence {
    /// Clients are there for this time after a request.
    pub fn lasting(present_for: Duration) -> Self {
        Self(Arc::new(Seen {
            made: Instant::now(),
            present_for,
            hasher: RandomState::new(),
            last: AtomicU64::new(0),
            changed: AtomicU64::new(0),
        }))
    }

    /// That of all threads of this process.
    pub fn of_process() -> &'static Self {
        static OF_PROCESS: LazyLock<Presence> = LazyLock::new(Presence::default);
        &OF_PROCESS
    }

    /// Notes a client's request.
    pub fn note(&self, client: ClientId) {
        let seen = &self.0;
        let client = seen.hasher.hash_one(client) | 1;
        // Read first, so that a client that is alone writes nothing that other threads read.
        if seen.last.load(Ordering::Relaxed) != client && seen.last.swap(client, Ordering::Relaxed) != 0 {
            seen.changed.store(seen.milliseconds() + 1, Ordering::Relaxed);
        }
    }

    /// Whether several clients have sent requests lately.
    pub fn has_several(&self) -> bool {
        let changed = self.0.changed.load(Ordering::Relaxed);
        let since = (self.0.milliseconds() + 1).saturating_sub(changed);
        changed > 0 && Duration::from_millis(since) < self.0.present_for
    }
}

impl Seen {
    fn milliseconds(&self) -> u64 {
        u64::try_from(self.made.elapsed().as_millis()).unwrap_or(u64::MAX - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_049_clients_are_several_when_their_requests_alternate() {
        let presence = Presence::lasting(Duration::from_secs(3600));
        let [one, other] = [(); 2].map(|()| ClientId::of_connection(None));
        for _ in 0..3 {
            presence.note(one);
        }
        assert!(!presence.has_several());

        presence.clone().note(other);

        assert!(presence.has_several());
    }
}
