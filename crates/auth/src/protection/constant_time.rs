//! Delays responses to fixed intervals, so that their timing does not reveal which addresses are registered.
//!
//! A mail for a known address costs a commit that an unknown address does not. The difference of some milliseconds
//! disappears when the response is delayed to the next full interval. No connection is held during the delay. Source:
//! Auth contract §11, user enumeration.

use std::time::Duration;

use tokio::time::Instant;

/// Length of an interval: longer than these requests usually take, and too short to be noticed by a user.
const INTERVAL: Duration = Duration::from_millis(40);

/// Runs the work and returns its result, success or error, at the next full interval after the start.
pub(crate) async fn delay_to_full_interval<T>(work: impl Future<Output = T>) -> T {
    let start = Instant::now();
    let result = work.await;
    tokio::time::sleep_until(start + next_interval(start.elapsed())).await;
    result
}

fn next_interval(worked: Duration) -> Duration {
    let intervals = worked.as_nanos() / INTERVAL.as_nanos() + 1;
    INTERVAL.saturating_mul(u32::try_from(intervals).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_098_responses_are_delayed_to_full_intervals() {
        let leaves = |worked_ms| next_interval(Duration::from_millis(worked_ms));

        assert_eq!(leaves(0), leaves(30));
        assert_eq!(leaves(3), INTERVAL);
        assert_eq!(leaves(41), 2 * INTERVAL);
    }
}
