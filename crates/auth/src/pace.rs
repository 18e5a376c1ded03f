//! Answers that leave at even times, so that nobody learns from a clock which addresses are registered.
//!
//! A mail for a known address costs a commit that an unknown one does not; the difference is some milliseconds, small enough to
//! disappear in the next full interval. Nothing is held while an answer waits. Source: Auth contract §11, user enumeration.

use std::time::Duration;

use tokio::time::Instant;

/// Longer than the work behind these answers usually takes, shorter than what anybody notices after a click.
const INTERVAL: Duration = Duration::from_millis(40);

/// Runs the work, and answers at the next full interval after the start, whatever came of it.
pub(crate) async fn evenly<T>(work: impl Future<Output = T>) -> T {
    let start = Instant::now();
    let answer = work.await;
    tokio::time::sleep_until(start + next_interval(start.elapsed())).await;
    answer
}

fn next_interval(worked: Duration) -> Duration {
    let intervals = worked.as_nanos() / INTERVAL.as_nanos() + 1;
    INTERVAL.saturating_mul(u32::try_from(intervals).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_098_answers_leave_at_full_intervals() {
        let leaves = |worked_ms| next_interval(Duration::from_millis(worked_ms));

        assert_eq!(leaves(0), leaves(30));
        assert_eq!(leaves(3), INTERVAL);
        assert_eq!(leaves(41), 2 * INTERVAL);
    }
}
