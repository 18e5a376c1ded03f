//! How long statements take, so that fast ones are not queued behind slow ones.

use std::num::NonZeroUsize;
use std::time::Duration;

use lru::{DefaultHasher, LruCache};

/// How many statements are remembered.
const REMEMBERED: usize = 1024;
/// From here on a statement counts as slow.
const SLOW: Duration = Duration::from_millis(30);

/// What is known of a statement before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speed {
    Fast,
    Unknown,
    Slow,
}

/// The durations of statements that have run.
pub(super) struct Pace {
    durations: LruCache<u64, Duration>,
    hasher: DefaultHasher,
}

impl Default for Pace {
    fn default() -> Self {
        let remembered = NonZeroUsize::new(REMEMBERED).unwrap_or(NonZeroUsize::MIN);
        Self {
            durations: LruCache::new(remembered),
            hasher: DefaultHasher::default(),
        }
    }
}

impl Pace {
    /// A statement's identity, and what is known of it.
    pub(super) fn look_up(&mut self, text: &str) -> (u64, Speed) {
        use std::hash::BuildHasher;
        let id = self.hasher.hash_one(text);
        let speed = match self.durations.get(&id) {
            None => Speed::Unknown,
            Some(duration) if *duration < SLOW => Speed::Fast,
            Some(_) => Speed::Slow,
        };
        (id, speed)
    }

    /// Remembers the longest duration, which fades: a statement may be slow with some values only.
    pub(super) fn record(&mut self, id: u64, duration: Duration) {
        match self.durations.get_mut(&id) {
            Some(known) => *known = duration.max(known.mul_f32(0.7)),
            None => {
                self.durations.put(id, duration);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_run_is_remembered_for_a_while() {
        let mut pace = Pace::default();
        let (id, speed) = pace.look_up("select f()");
        assert_eq!(speed, Speed::Unknown);

        pace.record(id, Duration::from_secs(1));
        for _ in 0..5 {
            pace.record(id, Duration::from_millis(1));
            assert_eq!(pace.look_up("select f()").1, Speed::Slow);
        }
        for _ in 0..10 {
            pace.record(id, Duration::from_millis(1));
        }

        assert_eq!(pace.look_up("select f()").1, Speed::Fast);
    }
}
