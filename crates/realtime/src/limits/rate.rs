//! Project-wide rate limits. A rate is the average over the finished 5 s of the last minute, so a burst is judged when
//! the 5 s in which it came have passed.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The average covers at most this many finished buckets: a minute when a bucket lasts 5 s.
const FINISHED: usize = 12;
/// The finished buckets and the one that is being filled.
const BUCKETS: usize = FINISHED + 1;

/// Counts events and reports when their average rate reaches a limit. Shared by all threads.
#[derive(Debug)]
pub(crate) struct Rate {
    /// Events per second; 0: any number.
    limit: u32,
    bucket: Duration,
    window: Mutex<Window>,
}

/// Event counts in a ring of buckets.
#[derive(Debug, Default)]
struct Window {
    /// The time of the first event, from which buckets are counted.
    started: Option<Instant>,
    buckets: [u64; BUCKETS],
    /// Number of the bucket that is being filled, counted from the start; also how many buckets are finished.
    newest: u64,
}

impl Rate {
    /// Creates a counter with a limit in events per second; 0 means no limit. Events are counted in buckets of the length
    /// `bucket`.
    pub(crate) fn new(limit: u32, bucket: Duration) -> Self {
        Self {
            limit,
            bucket,
            window: Mutex::default(),
        }
    }

    /// Counts events. Without a limit this returns before the lock is taken, because every delivered message passes
    /// here.
    pub(crate) fn count(&self, events: u64) {
        if self.limit > 0 {
            let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
            window.count(events, Instant::now(), self.bucket);
        }
    }

    /// Whether the average has reached the limit.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.limit > 0 && self.average() >= f64::from(self.limit)
    }

    /// The limit in events per second.
    pub(crate) fn limit(&self) -> u32 {
        self.limit
    }

    /// Events per second, averaged over the finished buckets since the first event, at most the last minute's.
    pub(crate) fn average(&self) -> f64 {
        if self.limit == 0 {
            return 0.0;
        }
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        window.average(Instant::now(), self.bucket)
    }
}

impl Window {
    fn count(&mut self, events: u64, now: Instant, bucket: Duration) {
        self.started.get_or_insert(now);
        self.advance(now, bucket);
        self.buckets[index_of(self.newest)] += events;
    }

    /// Compat: divides by the number of finished buckets, as upstream, and not always by a minute. A new server therefore
    /// reaches the limit after 5 s of too many events, and the events of the last seconds are not counted yet.
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of a minute stay far below 2^52"
    )]
    fn average(&mut self, now: Instant, bucket: Duration) -> f64 {
        self.advance(now, bucket);
        let finished = self.newest.min(FINISHED as u64);
        if finished == 0 {
            return 0.0;
        }
        let events = self.buckets.iter().sum::<u64>() - self.buckets[index_of(self.newest)];
        events as f64 / (bucket.as_secs_f64() * finished as f64)
    }

    /// Moves on to the bucket of this time and empties the buckets of the time that has passed.
    fn advance(&mut self, now: Instant, bucket: Duration) {
        let Some(started) = self.started else { return };
        // Two threads may read the clock in one order and take the lock in the other, so `now` can be a little behind;
        // then nothing moves.
        let elapsed = now.saturating_duration_since(started);
        let newest = u64::try_from(elapsed.as_nanos() / bucket.as_nanos().max(1)).unwrap_or(u64::MAX);
        let passed = newest.saturating_sub(self.newest).min(BUCKETS as u64);
        for step in 0..passed {
            self.buckets[index_of(newest - step)] = 0;
        }
        self.newest = self.newest.max(newest);
    }
}

fn index_of(bucket: u64) -> usize {
    usize::try_from(bucket % BUCKETS as u64).expect("a remainder of 13 fits")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUCKET: Duration = Duration::from_secs(5);

    /// The average at this many seconds after the start, when events came at the given seconds.
    fn average(events: &[(u64, u64)], at: u64) -> f64 {
        let start = Instant::now();
        let mut window = Window::default();
        for (second, count) in events {
            window.count(*count, start + Duration::from_secs(*second), BUCKET);
        }
        window.average(start + Duration::from_secs(at), BUCKET)
    }

    #[track_caller]
    fn assert_average(events: &[(u64, u64)], at: u64, expected: f64) {
        let average = average(events, at);
        assert!(
            (average - expected).abs() < 1e-9,
            "{average} instead of {expected} at {at} s"
        );
    }

    #[test]
    fn realtime_051_a_burst_counts_when_its_five_seconds_have_passed() {
        let burst = [(0, 20), (4, 10)];
        assert_average(&burst, 4, 0.0);
        assert_average(&burst, 5, 6.0);
    }

    #[test]
    fn realtime_051_average_divides_by_finished_buckets_since_the_first_event() {
        assert_average(&[(0, 30)], 10, 3.0);
        assert_average(&[(0, 30)], 29, 1.2);
        assert_average(&[(0, 30), (7, 30), (14, 1000)], 14, 6.0);
    }

    #[test]
    fn realtime_051_average_covers_a_minute_and_forgets_older_events() {
        assert_average(&[(0, 120)], 60, 2.0);
        assert_average(&[(0, 120)], 64, 2.0);
        assert_average(&[(0, 120)], 65, 0.0);
        assert_average(&[(0, 120), (65, 60)], 70, 1.0);
        assert_average(&[(0, 120), (1_000_000, 60)], 1_000_005, 1.0);
    }

    #[test]
    fn realtime_051_average_of_no_events_is_zero() {
        assert_average(&[], 100, 0.0);
    }

    #[test]
    fn realtime_051_rate_without_a_limit_is_never_exceeded() {
        let rate = Rate::new(0, Duration::from_nanos(1));
        rate.count(1_000_000);
        assert!(!rate.is_exceeded());
    }

    #[test]
    fn realtime_051_rate_is_not_exceeded_before_the_first_bucket_is_finished() {
        let rate = Rate::new(1, Duration::from_secs(86_400));
        rate.count(1_000_000);
        assert!(!rate.is_exceeded());
    }
}
