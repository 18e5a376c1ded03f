//! When a certificate is renewed, and when again after a failure. Times are those of the clock: it may jump, so every decision is made anew.

use std::time::{Duration, SystemTime};

use crate::certificate::Certificate;

/// The pause after the first failure, doubled with each further one. Authorities allow about five failures in an hour.
pub(super) const FIRST_PAUSE: Duration = Duration::from_secs(2 * 60);
/// The longest one: an authority that is away for a month is asked about twice a day.
const LONGEST_PAUSE: Duration = Duration::from_secs(12 * 3600);
/// How long an authority may tell this server to wait.
pub(super) const LONGEST_HOLD: Duration = Duration::from_secs(7 * 24 * 3600);
/// How often the clock is looked at, and how rarely for certificates of a minute, as tests have them.
const LONGEST_TICK: Duration = Duration::from_secs(60);
const SHORTEST_TICK: Duration = Duration::from_millis(500);
/// How soon after it was issued a certificate may be renewed. An authority that has to revoke certificates advises so.
pub(super) const SOONEST: Duration = Duration::from_secs(3600);
/// How often the authority is asked for its advice at least and at most.
const LONGEST_ADVICE: Duration = Duration::from_secs(6 * 3600);

/// When a certificate is to be renewed: at a moment in the window that the authority advises, else after two thirds of its lifetime. Never later than
/// five sixths, so that there is time for failures, and not at once again, whatever an authority advises by mistake.
pub(super) fn renewal_time(
    certificate: &Certificate,
    window: Option<(SystemTime, SystemTime)>,
) -> SystemTime {
    let lifetime = certificate.lifetime();
    let fraction = certificate.fraction();
    let latest = certificate.not_before() + lifetime.mul_f64(5.0 / 6.0);
    let earliest = certificate.not_before() + (lifetime / 20).min(SOONEST);
    let advised = window.map(|(start, end)| {
        let length = end.duration_since(start).unwrap_or_default();
        start + length.mul_f64(fraction)
    });
    let usual = certificate.not_before() + lifetime.mul_f64(2.0 / 3.0 + fraction / 30.0);
    advised.unwrap_or(usual).clamp(earliest, latest)
}

/// The pause after so many failures in a row, a little different for each server. Short where the certificate of now lives for days only.
pub(super) fn pause_after(failures: u32, fraction: f64, lifetime: Option<Duration>) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
    let longest = lifetime.map_or(LONGEST_PAUSE, |lifetime| LONGEST_PAUSE.min(lifetime / 10));
    doubled.min(longest).mul_f64(1.0 + fraction / 10.0)
}

/// How long to sleep before the next look.
pub(super) fn tick_of(lifetime: Option<Duration>) -> Duration {
    lifetime.map_or(LONGEST_TICK, |lifetime| {
        (lifetime / 40).clamp(SHORTEST_TICK, LONGEST_TICK)
    })
}

/// When the authority's advice is asked for again; `told` is what it has said itself.
pub(super) fn advice_interval(lifetime: Duration, told: Option<Duration>) -> Duration {
    let shortest = (lifetime / 10).min(LONGEST_ADVICE);
    told.unwrap_or(LONGEST_ADVICE).clamp(shortest, LONGEST_ADVICE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::tests::make_certificate;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    #[test]
    fn prod_021_the_authoritys_advice_decides_else_two_thirds_of_the_lifetime() {
        let certificate = make_certificate(&["a.example"], 90 * DAY);
        let begun = certificate.not_before();

        let usual = renewal_time(&certificate, None);
        assert!((begun + 60 * DAY..=begun + 63 * DAY).contains(&usual));
        // An authority that has to revoke it advises at once.
        let past = (begun - DAY, begun - DAY / 2);
        assert_eq!(renewal_time(&certificate, Some(past)), begun + SOONEST);
        let window = (begun + 30 * DAY, begun + 32 * DAY);
        let advised = renewal_time(&certificate, Some(window));
        assert!((window.0..=window.1).contains(&advised));
        let late = (begun + 100 * DAY, begun + 101 * DAY);
        let latest = begun + certificate.lifetime().mul_f64(5.0 / 6.0);
        assert_eq!(renewal_time(&certificate, Some(late)), latest);
    }

    #[test]
    fn prod_021_failures_are_followed_by_growing_pauses() {
        let pauses: Vec<u64> = [1, 2, 3, 4, 5, 20, u32::MAX]
            .map(|failures| pause_after(failures, 0.0, Some(90 * DAY)).as_secs() / 60)
            .to_vec();

        assert_eq!(pauses, [2, 4, 8, 16, 32, 720, 720]);
        assert!(pause_after(1, 1.0, None) > pause_after(1, 0.0, None));
        assert_eq!(pause_after(20, 0.0, Some(DAY)), DAY / 10);
    }

    #[test]
    fn prod_021_short_certificates_are_looked_at_more_often() {
        assert_eq!(tick_of(None), LONGEST_TICK);
        assert_eq!(tick_of(Some(90 * DAY)), LONGEST_TICK);
        assert_eq!(
            tick_of(Some(Duration::from_secs(60))),
            Duration::from_millis(1500)
        );
        assert_eq!(advice_interval(90 * DAY, None), LONGEST_ADVICE);
        assert_eq!(advice_interval(DAY, Some(Duration::ZERO)), DAY / 10);
    }
}
