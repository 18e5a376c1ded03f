//! Positions of the primary's WAL over the last seconds, each with the time at which the primary was asked.
//!
//! All of them are of one timeline: after a failover the new primary's positions may be lower than those of its predecessor, and say nothing about
//! how much of its WAL somebody has.

use std::collections::VecDeque;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use postgres_types::PgLsn;

/// WAL positions read from the primary at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sample {
    /// The primary was asked at this time, so the position includes all that was committed before.
    pub(super) asked: Instant,
    pub(super) timeline: u32,
    pub(super) position: PgLsn,
}

/// The samples of the last seconds, oldest first.
pub(super) struct PrimaryPositions {
    samples: RwLock<VecDeque<Sample>>,
    kept: Duration,
}

impl PrimaryPositions {
    /// Creates a list without samples; each sample is kept for at least `kept`.
    pub(super) fn new(kept: Duration) -> Self {
        Self {
            samples: RwLock::default(),
            kept,
        }
    }

    /// Whether the newest sample is of another timeline than `timeline`.
    pub(super) fn is_on_other_timeline(&self, timeline: u32) -> bool {
        self.newest().is_some_and(|newest| newest.timeline != timeline)
    }

    /// Adds a sample. The first one of a timeline drops those of others.
    pub(super) fn record(&self, sample: Sample) {
        let mut samples = self.samples.write().unwrap_or_else(PoisonError::into_inner);
        samples.retain(|former| former.timeline == sample.timeline);
        // The newest sample is kept whatever its age, because reads continue while the primary does not respond.
        while samples
            .front()
            .is_some_and(|oldest| sample.asked.saturating_duration_since(oldest.asked) > self.kept)
        {
            samples.pop_front();
        }
        samples.push_back(sample);
    }

    /// The first position that the primary was asked for at `moment` or later.
    pub(super) fn first_since(&self, moment: Instant) -> Option<PgLsn> {
        let samples = self.samples.read().unwrap_or_else(PoisonError::into_inner);
        let index = samples.partition_point(|sample| sample.asked < moment);
        samples.get(index).map(|sample| sample.position)
    }

    pub(super) fn newest(&self) -> Option<Sample> {
        let samples = self.samples.read().unwrap_or_else(PoisonError::into_inner);
        samples.back().copied()
    }

    /// The time up to which everything that was committed is part of the WAL before `replayed`: that of the newest sample
    /// that is not behind it.
    pub(super) fn asked_at(&self, replayed: PgLsn) -> Option<Instant> {
        let samples = self.samples.read().unwrap_or_else(PoisonError::into_inner);
        let newest = samples.iter().rev().find(|sample| sample.position <= replayed);
        newest.map(|sample| sample.asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// One sample per second with the positions 100, 200, …
    fn sampled(count: u32) -> (Instant, PrimaryPositions) {
        let start = Instant::now();
        let positions = PrimaryPositions::new(10 * SECOND);
        for second in 0..count {
            positions.record(Sample {
                asked: start + second * SECOND,
                timeline: 1,
                position: PgLsn::from(u64::from(second + 1) * 100),
            });
        }
        (start, positions)
    }

    #[test]
    fn a_write_requires_the_first_position_asked_for_after_it() {
        let (start, positions) = sampled(3);

        assert_eq!(positions.first_since(start), Some(PgLsn::from(100)));
        assert_eq!(positions.first_since(start + SECOND / 2), Some(PgLsn::from(200)));
        assert_eq!(positions.first_since(start + 2 * SECOND), Some(PgLsn::from(300)));
        assert_eq!(positions.first_since(start + 5 * SECOND / 2), None);
    }

    #[test]
    fn samples_are_forgotten_by_age_but_the_newest_one_never() {
        let (start, positions) = sampled(3);
        positions.record(Sample {
            asked: start + 60 * SECOND,
            timeline: 1,
            position: PgLsn::from(900),
        });

        assert_eq!(positions.first_since(start), Some(PgLsn::from(900)));
    }

    #[test]
    fn a_write_after_a_failover_requires_a_position_of_the_new_timeline() {
        let (start, positions) = sampled(3);
        positions.record(Sample {
            asked: start + 4 * SECOND,
            timeline: 2,
            position: PgLsn::from(150),
        });

        assert_eq!(positions.first_since(start + SECOND), Some(PgLsn::from(150)));
        assert_eq!(positions.asked_at(PgLsn::from(300)), Some(start + 4 * SECOND));
        assert!(positions.is_on_other_timeline(1) && !positions.is_on_other_timeline(2));
    }

    #[test]
    fn the_lag_of_a_replica_is_the_age_of_the_newest_sample_that_it_has_replayed() {
        let (start, positions) = sampled(3);

        assert_eq!(positions.asked_at(PgLsn::from(250)), Some(start + SECOND));
        assert_eq!(positions.asked_at(PgLsn::from(300)), Some(start + 2 * SECOND));
        assert_eq!(positions.asked_at(PgLsn::from(99)), None);
    }
}
