//! When a job runs: the five fields of cron, a shortcut such as `@hourly`, or an interval of seconds. Pure.
//!
//! When a job is created, the SQL function `cron._is_valid_schedule` checks its schedule. Both
//! must accept the same texts, as a job would otherwise be stored and never run; a test compares the two.

use chrono::{DateTime, Datelike, Days, Timelike, Utc};

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 8] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// A parsed schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Schedule {
    /// Minutes that match five fields.
    Fields(Fields),
    /// Every so many seconds, from 1 to 59.
    Seconds(u32),
    /// Once after PostgreSQL was started.
    Reboot,
}

/// The five fields of cron; bit `n` of a set is the value `n`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fields {
    minutes: u64,
    hours: u64,
    days_of_month: u64,
    months: u64,
    days_of_week: u64,
    /// `$`: the last day of the month.
    last_day: bool,
    /// Whether one of the day fields begins with `*`: then both must match, else one of them is enough.
    days_are_combined: bool,
    /// Whether the minute or hour begins with `*`; such jobs are not made up for when the clock jumps.
    pub(super) is_wildcard: bool,
}

impl Schedule {
    /// Parses a schedule; `None` when it is malformed.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim_matches([' ', '\t', '\n', '\r']);
        if let Some(seconds) = parse_seconds(text) {
            return (1..=59).contains(&seconds).then_some(Self::Seconds(seconds));
        }
        let words: Vec<&str> = text.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
        let fields = match *words.first()? {
            "@reboot" | "@restart" => return Some(Self::Reboot),
            "@yearly" | "@annually" => ["0", "0", "1", "1", "*"],
            "@monthly" => ["0", "0", "1", "*", "*"],
            "@weekly" => ["0", "0", "*", "*", "0"],
            "@daily" | "@midnight" => ["0", "0", "*", "*", "*"],
            "@hourly" => ["0", "*", "*", "*", "*"],
            // Like the original, further words are ignored: some people write a sixth field.
            _ => words.get(..5)?.try_into().ok()?,
        };
        Fields::parse(fields).map(Self::Fields)
    }
}

/// The number of `30 seconds`; `None` for any other text.
fn parse_seconds(text: &str) -> Option<u32> {
    let (number, unit) = text.split_once(char::is_whitespace)?;
    let unit = unit.trim();
    let is_unit = unit.eq_ignore_ascii_case("second") || unit.eq_ignore_ascii_case("seconds");
    is_unit.then(|| parse_digits(number))?
}

impl Fields {
    fn parse([minute, hour, day_of_month, month, day_of_week]: [&str; 5]) -> Option<Self> {
        let last_day = day_of_month == "$";
        let mut days_of_week = parse_list(day_of_week, 0, 7, &DAYS)?;
        // Both 0 and 7 are Sunday.
        if days_of_week & (1 << 7) != 0 {
            days_of_week |= 1;
        }
        Some(Self {
            minutes: parse_list(minute, 0, 59, &[])?,
            hours: parse_list(hour, 0, 23, &[])?,
            days_of_month: if last_day {
                0
            } else {
                parse_list(day_of_month, 1, 31, &[])?
            },
            months: parse_list(month, 1, 12, &MONTHS)?,
            days_of_week,
            last_day,
            days_are_combined: day_of_month.starts_with('*') || day_of_week.starts_with('*'),
            is_wildcard: minute.starts_with('*') || hour.starts_with('*'),
        })
    }

    /// Whether the minute that contains `time` matches.
    pub(super) fn matches(&self, time: DateTime<Utc>) -> bool {
        let has = |set: u64, value: u32| set & (1 << value) != 0;
        let is_last_day = || {
            time.checked_add_days(Days::new(1))
                .is_some_and(|next| next.day() == 1)
        };
        let day_of_month = has(self.days_of_month, time.day()) || (self.last_day && is_last_day());
        let day_of_week = has(self.days_of_week, time.weekday().num_days_from_sunday());
        let day = if self.days_are_combined {
            day_of_month && day_of_week
        } else {
            day_of_month || day_of_week
        };
        day && has(self.minutes, time.minute())
            && has(self.hours, time.hour())
            && has(self.months, time.month())
    }
}

/// A list such as `1,3-5,*/2` as a set of bits. Names stand for `low`, `low + 1` and so on.
fn parse_list(list: &str, low: u32, high: u32, names: &[&str]) -> Option<u64> {
    let mut set = 0;
    for item in list.split(',') {
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, Some(parse_digits(step)?)),
            None => (item, None),
        };
        let (first, last) = if range == "*" {
            (low, high)
        } else if let Some((first, last)) = range.split_once('-') {
            (parse_number(first, low, names)?, parse_number(last, low, names)?)
        } else if step.is_none() {
            let number = parse_number(range, low, names)?;
            (number, number)
        } else {
            return None;
        };
        let step = step.unwrap_or(1);
        // Compat: pg_cron 1.6.4 takes a step above the field's range, which means the first value.
        if !(low..=high).contains(&first) || !(low..=high).contains(&last) || step == 0 {
            return None;
        }
        for value in (first..=last).step_by(usize::try_from(step).ok()?) {
            set |= 1 << value;
        }
    }
    Some(set)
}

fn parse_number(text: &str, low: u32, names: &[&str]) -> Option<u32> {
    let place = names.iter().position(|name| name.eq_ignore_ascii_case(text));
    match place {
        Some(place) => Some(low + u32::try_from(place).ok()?),
        None => parse_digits(text),
    }
}

/// A number of at most six digits, without a sign.
fn parse_digits(text: &str) -> Option<u32> {
    let is_number = (1..=6).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use selvedge_testing::TestDatabase;

    use super::*;

    /// Schedules with whether they are valid.
    const VALIDITY: [(&str, bool); 35] = [
        ("* * * * *", true),
        ("*/5 * * * *", true),
        ("0 0 1,15 * 1-5", true),
        ("0 12 $ * *", true),
        ("0 0 * Jan-MAR sun", true),
        ("0 0 * * 7", true),
        ("5-1 * * * *", true),
        ("  0\t0 * * *  ", true),
        ("0 0 * * * *", true),
        ("@hourly", true),
        ("@reboot", true),
        ("30 seconds", true),
        ("1 second", true),
        (" 59  SECONDS ", true),
        ("", false),
        ("* * * *", false),
        ("60 * * * *", false),
        ("* 24 * * *", false),
        ("* * 0 * *", false),
        ("* * 32 * *", false),
        ("* * * 13 *", false),
        ("* * * * 8", false),
        ("*/0 * * * *", false),
        ("*/60 * * * *", true),
        ("0 0 */100 * *", true),
        ("1/5 * * * *", false),
        ("1, * * * *", false),
        ("-1 * * * *", false),
        ("1--2 * * * *", false),
        ("x * * * *", false),
        ("* * * foo *", false),
        ("@often", false),
        ("0 seconds", false),
        ("60 seconds", false),
        ("* * $-1 * *", false),
    ];

    fn matches(schedule: &str, time: &str) -> bool {
        let time = DateTime::parse_from_rfc3339(time).expect("a time").to_utc();
        match Schedule::parse(schedule) {
            Some(Schedule::Fields(fields)) => fields.matches(time),
            other => panic!("{schedule}: {other:?}"),
        }
    }

    #[test]
    fn malformed_schedules_are_refused() {
        for (schedule, is_valid) in VALIDITY {
            assert_eq!(Schedule::parse(schedule).is_some(), is_valid, "{schedule:?}");
        }
        assert_eq!(Schedule::parse("30 Seconds"), Some(Schedule::Seconds(30)));
        assert_eq!(Schedule::parse("@restart"), Some(Schedule::Reboot));
    }

    #[tokio::test]
    async fn the_extension_accepts_the_same_schedules() {
        let database = TestDatabase::create().await;
        let client = database.connect("postgres").await;
        client
            .batch_execute("select _selvedge.create_extension('pg_cron', true, null, null, false)")
            .await
            .expect("created");

        for (schedule, is_valid) in VALIDITY {
            let row = client
                .query_one("select cron._is_valid_schedule($1)", &[&schedule])
                .await
                .expect("a function");
            assert_eq!(row.get::<_, bool>(0), is_valid, "{schedule:?}");
        }
    }

    #[test]
    fn fields_select_minutes() {
        // 2026-11-23 is a Monday, 2026-11-30 the last day of its month.
        let cases = [
            ("*/15 8-9 * * *", "2026-11-23T08:45:59Z", true),
            ("*/15 8-9 * * *", "2026-11-23T08:46:00Z", false),
            ("0 13 2 6 *", "2026-06-02T13:00:00Z", true),
            ("0 0 */100 * *", "2026-11-01T00:00:00Z", true),
            ("0 0 */100 * *", "2026-11-02T00:00:00Z", false),
            ("0 0 $ * *", "2026-11-30T00:00:00Z", true),
            ("0 0 $ * *", "2026-11-29T00:00:00Z", false),
            ("0 0 $ 2 *", "2028-02-29T00:00:00Z", true),
            ("0 0 * * mon", "2026-11-23T00:00:00Z", true),
            ("0 0 * * 7", "2026-11-22T00:00:00Z", true),
            ("0 0 * * 0", "2026-11-22T00:00:00Z", true),
            ("@weekly", "2026-11-22T00:00:00Z", true),
            ("@yearly", "2026-01-01T00:00:00Z", true),
            ("@hourly", "2026-01-01T05:00:00Z", true),
            ("@hourly", "2026-01-01T05:01:00Z", false),
        ];
        for (schedule, time, expected) in cases {
            assert_eq!(matches(schedule, time), expected, "{schedule} at {time}");
        }
    }

    #[test]
    fn one_matching_day_field_is_enough_unless_one_begins_with_a_star() {
        // The 13th of November 2026 is a Friday, the 20th one, too, and the 14th a Saturday.
        for (schedule, time, expected) in [
            ("0 0 13 * 5", "2026-11-20T00:00:00Z", true),
            ("0 0 13 * 6", "2026-11-13T00:00:00Z", true),
            ("0 0 13 * 6", "2026-11-20T00:00:00Z", false),
            ("0 0 */13 * 6", "2026-11-14T00:00:00Z", true),
            ("0 0 */13 * 6", "2026-11-01T00:00:00Z", false),
        ] {
            assert_eq!(matches(schedule, time), expected, "{schedule} at {time}");
        }
    }
}
