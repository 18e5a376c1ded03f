//! Durations as Go writes them (`1h30m`), which GoTrue and the Supabase CLI read in requests and in `config.toml`.

/// Parses what Go's `time.ParseDuration` accepts: an optional sign, then numbers with units (`300ms`, `1.5h`, `2h45m`).
/// A bare `0` is allowed, other bare numbers are not. The result is in nanoseconds, as Go's `time.Duration` is.
///
/// `None` for everything else, and for more than 292 years, which Go refuses too.
pub fn parse_go_duration_nanos(text: &str) -> Option<i64> {
    let (is_negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut nanos = 0_u64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let unit_end = tail
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        nanos = nanos.checked_add(scale_to_nanos(number, unit_nanos(unit)?)?)?;
        rest = tail;
    }
    let nanos = i64::try_from(nanos).ok()?;
    Some(if is_negative { -nanos } else { nanos })
}

fn unit_nanos(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        // The micro sign (U+00B5) and the Greek letter mu (U+03BC).
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60 * 1_000_000_000,
        "h" => 3_600 * 1_000_000_000,
        _ => return None,
    })
}

/// `1.5` of a unit: the whole part exactly, the fraction to the nearest nanosecond.
fn scale_to_nanos(number: &str, unit_nanos: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction: f64 = format!("0.{fraction}").parse().ok()?;
    whole
        .checked_mul(unit_nanos)?
        .checked_add((fraction * unit_nanos as f64).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_durations_as_go_does() {
        let cases = [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("300ms", Some(300_000_000)),
            ("1.5h", Some(5_400_000_000_000)),
            ("2h45m", Some(9_900_000_000_000)),
            ("-1m", Some(-60_000_000_000)),
            ("+5s", Some(5_000_000_000)),
            (".5s", Some(500_000_000)),
            ("1.s", Some(1_000_000_000)),
            ("1h.5m", Some(3_630_000_000_000)),
            ("0.29s", Some(290_000_000)),
            ("1us2µs3μs4ns", Some(6_004)),
            ("2562047h47m16.854775807s", Some(i64::MAX)),
            ("2562048h", None),
            ("", None),
            ("-", None),
            ("5", None),
            ("s", None),
            (".s", None),
            ("1.2.3s", None),
            ("1d", None),
            ("1 s", None),
            ("--1s", None),
        ];
        for (text, nanos) in cases {
            assert_eq!(parse_go_duration_nanos(text), nanos, "{text}");
        }
    }
}
