//! Remembers how long statements take, so that fast ones are not queued behind slow ones.

use std::hash::BuildHasher;
use std::num::NonZeroUsize;
use std::time::Duration;

use lru::{DefaultHasher, LruCache};

/// How many statements are remembered that ran once, and how many that ran repeatedly; of each kind the least recently
/// used is forgotten first. They are kept apart, so that a flood of new shapes does not displace those of normal traffic.
const REMEMBERED_ONCE: usize = 1024;
const REMEMBERED_REPEATED: usize = 4096;

/// What earlier runs say about a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speed {
    Fast,
    Unknown,
    Slow,
}

/// The durations of statements that have run, by a hash of their text, and of what statements are about.
pub(super) struct StatementLatencies {
    once: LruCache<u64, Duration>,
    repeated: LruCache<u64, Duration>,
    hasher: DefaultHasher,
    slow_statement: Duration,
}

impl StatementLatencies {
    /// Remembers nothing yet. Statements that take `slow_statement` or longer count as slow.
    pub(super) fn new(slow_statement: Duration) -> Self {
        let capacity = |entries| NonZeroUsize::new(entries).unwrap_or(NonZeroUsize::MIN);
        Self {
            once: LruCache::new(capacity(REMEMBERED_ONCE)),
            repeated: LruCache::new(capacity(REMEMBERED_REPEATED)),
            hasher: DefaultHasher::default(),
            slow_statement,
        }
    }

    /// The hash that identifies a statement, or what one is about.
    pub(super) fn id_of(&self, text: &str) -> u64 {
        self.hasher.hash_one(text)
    }

    /// What earlier runs say.
    pub(super) fn look_up(&mut self, id: u64) -> Speed {
        match self.repeated.get(&id).or_else(|| self.once.peek(&id)) {
            None => Speed::Unknown,
            Some(duration) if *duration < self.slow_statement => Speed::Fast,
            Some(_) => Speed::Slow,
        }
    }

    /// Stores the longer of this duration and 70 % of the stored one, so that a statement that is slow with some values
    /// only counts as slow for several runs.
    pub(super) fn record(&mut self, id: u64, duration: Duration) {
        if let Some(known) = self.repeated.get_mut(&id) {
            *known = duration.max(known.mul_f32(0.7));
        } else if let Some(known) = self.once.pop(&id) {
            self.repeated.put(id, duration.max(known.mul_f32(0.7)));
        } else {
            self.once.put(id, duration);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_run_is_forgotten_after_several_fast_ones() {
        let mut latencies = StatementLatencies::new(Duration::from_millis(30));
        let id = latencies.id_of("select f()");
        assert_eq!(latencies.look_up(id), Speed::Unknown);

        latencies.record(id, Duration::from_secs(1));
        for _ in 0..5 {
            latencies.record(id, Duration::from_millis(1));
            assert_eq!(latencies.look_up(id), Speed::Slow);
        }
        for _ in 0..10 {
            latencies.record(id, Duration::from_millis(1));
        }

        assert_eq!(latencies.look_up(id), Speed::Fast);
    }

    #[test]
    fn a_flood_of_new_statements_does_not_displace_known_ones() {
        let mut latencies = StatementLatencies::new(Duration::from_millis(30));
        let known = latencies.id_of("known");
        for _ in 0..2 {
            latencies.record(known, Duration::from_millis(1));
        }

        for number in 0..100_000 {
            latencies.record(
                latencies.id_of(&format!("new {number}")),
                Duration::from_millis(1),
            );
        }

        assert_eq!(latencies.look_up(known), Speed::Fast);
    }
}
