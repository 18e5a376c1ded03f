//! The small languages inside configuration values: sizes (`50MiB`) and Go durations (`1h30m`).

use std::time::Duration;

/// Parses a number of bytes: `50MiB`, `5MB`, `500k`, `1048576`. Decimal and binary units, any case, as
/// the Supabase CLI reads them (there `5MB` is 5 × 1024²: units are binary with and without the `i`).
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().ok()?;
    let unit = unit.trim().to_ascii_lowercase();
    let power = match unit
        .strip_suffix("ib")
        .or_else(|| unit.strip_suffix('b'))
        .unwrap_or(&unit)
    {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    let bytes = number * 1024_f64.powi(power);
    // 2^53: beyond it a float no longer counts single bytes, and no limit of ours is that large.
    (bytes.is_finite() && (0.0..=9_007_199_254_740_992.0).contains(&bytes)).then_some(bytes as u64)
}

/// Parses a Go duration: `300ms`, `1.5h`, `2h45m`. A bare `0` is allowed, other bare numbers are not.
pub(crate) fn parse_go_duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let unit_end = tail
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        let factor = match unit {
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * factor;
        rest = tail;
    }
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_028_sizes_read_as_the_cli_reads_them() {
        for (text, bytes) in [
            ("50MiB", Some(52_428_800)),
            ("5MB", Some(5_242_880)),
            ("500KB", Some(512_000)),
            ("1.5 GiB", Some(1_610_612_736)),
            ("1024", Some(1024)),
            ("0", Some(0)),
            ("many", None),
            ("5 parsecs", None),
            ("", None),
        ] {
            assert_eq!(parse_size(text), bytes, "{text}");
        }
    }

    #[test]
    fn gw_028_durations_are_gos() {
        for (text, milliseconds) in [
            ("1s", Some(1000)),
            ("2m", Some(120_000)),
            ("24h", Some(86_400_000)),
            ("1h30m", Some(5_400_000)),
            ("1.5h", Some(5_400_000)),
            ("300ms", Some(300)),
            ("0", Some(0)),
            ("10", None),
            ("1d", None),
            ("", None),
        ] {
            let parsed = parse_go_duration(text).map(|d| d.as_millis());
            assert_eq!(parsed, milliseconds, "{text}");
        }
    }
}
