//! How often a job of five fields has become due since the last reading of the clock. Without I/O.
//!
//! The rules for clocks that jump are those of Vixie cron, as in the original: a job with fixed times runs once for each of
//! its times, also when a jump skipped them, and does not run again when the clock is set back.

use chrono::{DateTime, DurationRound, TimeDelta, Utc};

use super::schedule::Fields;

/// A larger jump means that the clock was set, so the skipped runs are left out.
const LARGEST_JUMP_MINUTES: i64 = 180;
/// After a delay of at most this many minutes the server was slow, and every run that became due is made up for.
const LARGEST_DELAY_MINUTES: i64 = 5;

/// Returns the start of the minute that contains `time`.
pub(super) fn start_of_minute(time: DateTime<Utc>) -> DateTime<Utc> {
    time.duration_trunc(TimeDelta::minutes(1))
        .expect("every time can be truncated to minutes")
}

/// How the wall clock moved since the last check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// The minute has not changed.
    None,
    /// A few minutes have passed.
    Normal,
    /// It jumped forward, as to daylight saving time.
    Forward,
    /// The clock was set back by less than three hours.
    Backward,
    /// The clock was moved by three hours or more.
    Changed,
}

impl Progress {
    /// Compares the minute of the last reading with the current one.
    pub(super) fn between(last: DateTime<Utc>, current: DateTime<Utc>) -> Self {
        match (current - last).num_minutes() {
            0 => Self::None,
            1..=LARGEST_DELAY_MINUTES => Self::Normal,
            minutes if minutes > 0 && minutes <= LARGEST_JUMP_MINUTES => Self::Forward,
            minutes if minutes < 0 && minutes > -LARGEST_JUMP_MINUTES => Self::Backward,
            _ => Self::Changed,
        }
    }
}

/// The number of runs that became due between two minutes.
pub(super) fn count_due_runs(
    fields: &Fields,
    progress: Progress,
    last: DateTime<Utc>,
    current: DateTime<Utc>,
) -> u32 {
    let is_due_now = u32::from(fields.matches(current));
    match progress {
        Progress::None => 0,
        Progress::Normal => count_matches(fields, last, current),
        Progress::Forward if fields.is_wildcard => is_due_now,
        Progress::Forward => count_matches(fields, last, current),
        Progress::Backward if fields.is_wildcard => is_due_now,
        Progress::Backward => 0,
        Progress::Changed => is_due_now,
    }
}

/// The matching minutes after `last`, up to `current`.
fn count_matches(fields: &Fields, last: DateTime<Utc>, current: DateTime<Utc>) -> u32 {
    let mut minute = last;
    let mut count = 0;
    while minute < current {
        minute += TimeDelta::minutes(1);
        count += u32::from(fields.matches(minute));
    }
    count
}

#[cfg(test)]
mod tests {
    use super::super::schedule::Schedule;
    use super::*;

    fn due(schedule: &str, last: &str, current: &str) -> u32 {
        let Some(Schedule::Fields(fields)) = Schedule::parse(schedule) else {
            panic!("{schedule}");
        };
        let time = |text: &str| {
            DateTime::parse_from_rfc3339(&format!("2026-11-23T{text}:00Z"))
                .expect("a time")
                .to_utc()
        };
        let (last, current) = (time(last), time(current));
        count_due_runs(&fields, Progress::between(last, current), last, current)
    }

    #[test]
    fn runs_are_counted_for_every_minute_that_has_passed() {
        assert_eq!(due("* * * * *", "10:00", "10:00"), 0);
        assert_eq!(due("* * * * *", "10:00", "10:01"), 1);
        assert_eq!(due("* * * * *", "10:00", "10:04"), 4);
        assert_eq!(due("2 * * * *", "10:00", "10:04"), 1);
        assert_eq!(due("0 * * * *", "10:00", "10:04"), 0);
    }

    #[test]
    fn jumps_make_up_for_fixed_times_only() {
        assert_eq!(due("30 10 * * *", "10:00", "11:00"), 1);
        assert_eq!(due("* * * * *", "10:00", "11:00"), 1);
        assert_eq!(due("30 10 * * *", "11:00", "10:30"), 0);
        assert_eq!(due("* * * * *", "11:00", "10:30"), 1);
        assert_eq!(due("30 10 * * *", "04:00", "10:30"), 1);
        assert_eq!(due("30 9 * * *", "04:00", "10:30"), 0);
    }
}
