//! Remembers how long statements take, so that fast ones are not queued behind slow ones.

use std::hash::BuildHasher;
use std::num::NonZeroUsize;
use std::time::Duration;

use lru::{DefaultHasher, LruCache};

/// How many statements are remembered that ran once, and how many that ran repeatedly; of each kind the least recently
/// used is forgotten first. They are kept apart, so that a flood of new shapes does not displace those of normal traffic.
const REMEMBERED_ONCE: usize = 1024;
const REMEMBERED_REPEATED: usize = 4096;

/// How fast a statement was in earlier runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speed {
    Fast,
    Unknown,
    Slow,
}

/// The durations of statements that have run, by a hash of their text, and of what statements are about.
pub(super) struct StatementLatencies {
    seen_once: LruCache<u64, Duration>,
    seen_repeatedly: LruCache<u64, Duration>,
    hasher: DefaultHasher,
    slow_statement: Duration,
}

impl StatementLatencies {
    /// Remembers nothing yet. Statements that take `slow_statement` or longer count as slow.
    pub(super) fn new(slow_statement: Duration) -> Self {
        let capacity = |entries| NonZeroUsize::new(entries).unwrap_or(NonZeroUsize::MIN);
        Self {
            seen_once: LruCache::new(capacity(REMEMBERED_ONCE)),
            seen_repeatedly: LruCache::new(capacity(REMEMBERED_REPEATED)),
            hasher: DefaultHasher::default(),
            slow_statement,
        }
    }

    /// The hash that identifies a statement, or what one is about.
    pub(super) fn hash_text(&self, text: &str) -> u64 {
        self.hasher.hash_one(text)
    }

    /// Returns how fast the statement was in earlier runs.
    pub(super) fn find_speed(&mut self, id: u64) -> Speed {
        match self.seen_repeatedly.get(&id).or_else(|| self.seen_once.peek(&id)) {
            None => Speed::Unknown,
            Some(duration) if *duration < self.slow_statement => Speed::Fast,
            Some(_) => Speed::Slow,
        }
    }

    /// Stores the longer of this duration and 70 % of the stored one, so that a statement that is slow with some values
    /// only counts as slow for several runs.
    pub(super) fn record_duration(&mut self, id: u64, duration: Duration) {
        if let Some(known) = self.seen_repeatedly.get_mut(&id) {
            *known = duration.max(known.mul_f32(0.7));
        } else if let Some(known) = self.seen_once.pop(&id) {
            self.seen_repeatedly.put(id, duration.max(known.mul_f32(0.7)));
        } else {
            self.seen_once.put(id, duration);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_run_is_forgotten_after_several_fast_ones() {
        let mut latencies = StatementLatencies::new(Duration::from_millis(30));
        let id = latencies.hash_text("select f()");
        assert_eq!(latencies.find_speed(id), Speed::Unknown);

        latencies.record_duration(id, Duration::from_secs(1));
        for _ in 0..5 {
            latencies.record_duration(id, Duration::from_millis(1));
            assert_eq!(latencies.find_speed(id), Speed::Slow);
        }
        for _ in 0..10 {
            latencies.record_duration(id, Duration::from_millis(1));
        }

        assert_eq!(latencies.find_speed(id), Speed::Fast);
    }

    #[test]
    fn a_flood_of_new_statements_does_not_displace_known_ones() {
        let mut latencies = StatementLatencies::new(Duration::from_millis(30));
        let known = latencies.hash_text("known");
        for _ in 0..2 {
            latencies.record_duration(known, Duration::from_millis(1));
        }

        for number in 0..100_000 {
            latencies.record_duration(
                latencies.hash_text(&format!("new {number}")),
                Duration::from_millis(1),
            );
        }

        assert_eq!(latencies.find_speed(known), Speed::Fast);
    }
}
