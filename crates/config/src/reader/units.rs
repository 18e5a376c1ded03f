//! Parses sizes (`50MiB`) and Go durations (`1h30m`) in configuration values.

use std::time::Duration;

use selvedge_gateway::parse_go_duration_nanos;

/// Parses a number of bytes: `50MiB`, `5MB`, `500k`, `1048576`. Case does not matter. Compat: as in the Supabase CLI, all units are
/// powers of 1024, with and without the `i`.
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
    // Up to 2^53 an f64 holds every whole number exactly.
    (bytes.is_finite() && (0.0..=9_007_199_254_740_992.0).contains(&bytes)).then_some(bytes as u64)
}

/// Parses a Go duration that is not negative: `300ms`, `1.5h`, `2h45m`.
pub(crate) fn parse_go_duration(text: &str) -> Option<Duration> {
    let nanos = parse_go_duration_nanos(text.trim())?;
    u64::try_from(nanos).ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_028_sizes_are_parsed_as_by_the_cli() {
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
            ("-1s", None),
            ("", None),
        ] {
            let parsed = parse_go_duration(text).map(|d| d.as_millis());
            assert_eq!(parsed, milliseconds, "{text}");
        }
    }
}
