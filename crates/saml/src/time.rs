//! Times and durations as XML Schema writes them.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};

/// Reads an `xs:dateTime`; `None` for anything else, also for one without a time zone, which would be open to
/// interpretation.
pub(crate) fn parse_time(text: &str) -> Option<DateTime<Utc>> {
    let time = DateTime::parse_from_rfc3339(text.trim()).ok()?;
    Some(time.with_timezone(&Utc))
}

/// Writes an `xs:dateTime` in UTC.
pub(crate) fn write_time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Reads an `xs:duration` such as `P1DT12H`, where a year counts 365 days and a month 30; `None` for anything else.
pub(crate) fn parse_duration(text: &str) -> Option<TimeDelta> {
    let text = text.trim();
    let (text, sign) = match text.strip_prefix('-') {
        Some(rest) => (rest, -1),
        None => (text, 1),
    };
    let (date, time) = match text.strip_prefix('P')?.split_once('T') {
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (text.strip_prefix('P')?, ""),
    };
    if date.is_empty() && time.is_empty() {
        return None;
    }
    const DAY: i64 = 24 * 60 * 60;
    let days = sum_fields(date, &[('Y', 365 * DAY), ('M', 30 * DAY), ('D', DAY)])?;
    let seconds = sum_fields(time, &[('H', 60 * 60), ('M', 60), ('S', 1)])?;
    TimeDelta::try_seconds(days.checked_add(seconds)?.checked_mul(sign)?)
}

/// Adds up fields such as `1Y2M`: each unit at most once and in this order. Fractions of a second are dropped.
fn sum_fields(mut text: &str, units: &[(char, i64)]) -> Option<i64> {
    let mut sum = 0_i64;
    for (unit, seconds) in units {
        let Some((number, rest)) = text.split_once(*unit) else {
            continue;
        };
        let whole = match number.split_once('.') {
            Some((whole, fraction)) if *unit == 'S' && !fraction.is_empty() && is_digits(fraction) => whole,
            Some(_) => return None,
            None => number,
        };
        if !is_digits(whole) {
            return None;
        }
        sum = sum.checked_add(whole.parse::<i64>().ok()?.checked_mul(*seconds)?)?;
        text = rest;
    }
    text.is_empty().then_some(sum)
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_xml_schema_are_read() {
        let seconds = |text| parse_duration(text).map(|duration| duration.num_seconds());
        assert_eq!(seconds("PT1H"), Some(3600));
        assert_eq!(
            seconds("P1Y2M3DT4H5M6.7S"),
            Some((365 + 60 + 3) * 86400 + 4 * 3600 + 5 * 60 + 6)
        );
        assert_eq!(seconds("-P1D"), Some(-86400));
        for wrong in [
            "",
            "P",
            "PT",
            "P1",
            "1D",
            "P1S",
            "PT1D",
            "P1D2Y",
            "P-1D",
            "PT1.5H",
            "PT.S",
            "P99999999999999999999D",
        ] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_need_a_zone() {
        assert!(parse_time("2026-01-01T00:00:00Z").is_some());
        assert!(parse_time("2026-01-01T00:00:00.123+02:00").is_some());
        assert!(parse_time("2026-01-01T00:00:00").is_none());
    }
}
