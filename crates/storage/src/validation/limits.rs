//! The size limit and the allowed types of a bucket: parsing of the settings, and the check at upload.

use serde_json::Value;

use super::content_type::ContentType;
use crate::error::StorageError;

/// Longest entry of a list of allowed types, in characters.
const MAX_MIME_CHARACTERS: usize = 1000;

/// Reads `file_size_limit` of a bucket: bytes as a number, or a text such as `1.5MB`.
///
/// Units are decimal (1 MB = 1 000 000 bytes).
/// Compat: the number before a unit is rounded to three significant digits (`1234kb` is 1 230 000).
///
/// # Errors
/// `Schema` for anything else.
pub(crate) fn parse_file_size_limit(value: &Value) -> Result<Option<i64>, StorageError> {
    let invalid = || StorageError::Schema("body/file_size_limit must match a schema in anyOf".to_owned());
    match value {
        Value::Null => Ok(None),
        Value::Number(number) => match number.as_i64().or_else(|| to_integer(number.as_f64())) {
            Some(bytes) if bytes >= 0 => Ok(Some(bytes)),
            Some(_) => Err(StorageError::Schema(
                "body/file_size_limit must be >= 0".to_owned(),
            )),
            None => Err(StorageError::Schema(
                "body/file_size_limit must be integer".to_owned(),
            )),
        },
        Value::String(text) => parse_size_text(text).map(Some).ok_or_else(invalid),
        _ => Err(invalid()),
    }
}

/// A float without a fraction, such as JSON's `1e6`, as an integer.
fn to_integer(number: Option<f64>) -> Option<i64> {
    // Below 2^53, up to which a float represents every integer exactly.
    let number = number.filter(|n| n.fract() == 0.0 && n.abs() < 9e15)?;
    Some(number as i64)
}

/// Parses `2000`, `777b`, `20kb`, `1.5MB` or `1gb` to bytes.
fn parse_size_text(text: &str) -> Option<i64> {
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().ok();
    }
    let lower = text.to_ascii_lowercase();
    // `b` comes last, because every other unit ends with it as well.
    let (digits, factor) = [("gb", 1e9), ("mb", 1e6), ("kb", 1e3), ("b", 1.0)]
        .into_iter()
        .find_map(|(unit, factor)| lower.strip_suffix(unit).map(|digits| (digits, factor)))?;
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !is_number(integer) || !is_number(fraction) {
        return None;
    }
    let rounded = round_to_three_digits(digits.parse().ok()?);
    let bytes = (rounded * factor).floor();
    (bytes < 9e15).then_some(bytes as i64)
}

/// Rounds to three significant digits.
fn round_to_three_digits(number: f64) -> f64 {
    // Formatting rounds exactly; multiplying by powers of ten would add rounding errors.
    format!("{number:.2e}").parse().unwrap_or(number)
}

/// Reads `allowed_mime_types` of a bucket. Empty texts are ignored; a single text counts as a list of one.
///
/// # Errors
/// `InvalidMimeType` for an entry that is neither `type/subtype` nor ends in `*`.
pub(crate) fn parse_allowed_mime_types(value: &Value) -> Result<Option<Vec<String>>, StorageError> {
    let entries = match value {
        Value::Null => return Ok(None),
        Value::Array(entries) => entries.iter().map(entry_text).collect(),
        other => vec![entry_text(other)],
    };
    let entries: Vec<String> = entries.into_iter().filter(|entry| !entry.is_empty()).collect();
    match entries.iter().find(|entry| !is_mime_pattern(entry)) {
        Some(bad) => Err(StorageError::InvalidMimeType(bad.clone())),
        None => Ok(Some(entries)),
    }
}

/// An entry as text; anything but a string as its JSON, which is then refused by name.
fn entry_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// `type/subtype` with an optional charset, or any text that ends in `*`.
fn is_mime_pattern(entry: &str) -> bool {
    if entry.chars().count() > MAX_MIME_CHARACTERS || entry.chars().any(char::is_control) {
        return false;
    }
    if entry.ends_with('*') {
        return true;
    }
    let (essence, parameter) = entry
        .split_once(';')
        .map_or((entry, None), |(e, p)| (e, Some(p.trim())));
    let legal = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-+.".contains(c))
    };
    let parameter_is_charset =
        parameter.is_none_or(|p| p.strip_prefix("charset=").is_some_and(|c| !c.is_empty()));
    essence
        .split_once('/')
        .is_some_and(|(kind, subtype)| legal(kind) && legal(subtype))
        && parameter_is_charset
}

/// Checks the declared type of an upload against the list of its bucket. No list or an empty one allows all types.
///
/// Parameters of the declared type are only compared with entries that have parameters. In this, and in accepting any
/// type for `*` and `*/*`, we are more permissive than the original.
///
/// # Errors
/// `InvalidMimeType`.
pub(crate) fn check_mime_type(declared: &str, allowed: Option<&[String]>) -> Result<(), StorageError> {
    let Some(allowed) = allowed.filter(|list| !list.is_empty()) else {
        return Ok(());
    };
    if allowed.iter().any(|entry| matches_mime_entry(declared, entry)) {
        Ok(())
    } else {
        Err(StorageError::InvalidMimeType(declared.to_owned()))
    }
}

/// Whether a declared type matches an entry of the list.
fn matches_mime_entry(declared: &str, entry: &str) -> bool {
    let Some(parsed) = ContentType::parse(declared) else {
        return false;
    };
    if entry == "*" || entry == "*/*" {
        return true;
    }
    let declared = if entry.contains(';') {
        declared
    } else {
        parsed.essence()
    };
    let (Some((kind, subtype)), Some((entry_kind, entry_subtype))) =
        (declared.split_once('/'), entry.split_once('/'))
    else {
        return false;
    };
    kind == entry_kind && (entry_subtype == "*" || subtype == entry_subtype)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn store_068_size_limits_are_numbers_texts_with_units_or_null() {
        let cases = [
            (json!(1000), Some(1000)),
            (json!("1mb"), Some(1_000_000)),
            (json!("1.5MB"), Some(1_500_000)),
            (json!("20kb"), Some(20_000)),
            (json!("777b"), Some(777)),
            (json!("1234kb"), Some(1_230_000)),
            (json!("2000"), Some(2000)),
            (json!(0), Some(0)),
            (json!(null), None),
        ];
        for (value, expected) in cases {
            assert_eq!(parse_file_size_limit(&value).expect("valid"), expected, "{value}");
        }
        for bad in [
            json!("1tb"),
            json!("ten"),
            json!(-5),
            json!(1.5),
            json!([1]),
            json!("1.mb"),
            json!(""),
        ] {
            assert!(parse_file_size_limit(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn store_033_types_match_exact_entries_and_wildcards() {
        let list = |entries: &[&str]| entries.iter().map(|e| (*e).to_owned()).collect::<Vec<_>>();
        let cases = [
            ("image/png", list(&["image/*"]), true),
            ("image/png", list(&["image/png", "text/plain"]), true),
            ("IMAGE/PNG", list(&["image/png"]), false),
            ("image/jpeg", list(&["image/png"]), false),
            ("text/plain;charset=UTF-8", list(&["text/plain"]), true),
            ("text/plain", list(&["text/plain; charset=utf-8"]), false),
            ("video/mp4", list(&["*/*"]), true),
            ("image/png, text/html", list(&["image/*"]), false),
            ("image/png;, text/html", list(&["*/*"]), false),
            ("video/mp4", list(&[]), true),
        ];
        for (declared, allowed, expected) in cases {
            assert_eq!(
                check_mime_type(declared, Some(&allowed)).is_ok(),
                expected,
                "{declared} {allowed:?}"
            );
        }
    }

    #[test]
    fn store_033_errors_name_the_malformed_entry() {
        for (value, named) in [
            (json!(["image"]), "image"),
            (json!(["image/png/x"]), "image/png/x"),
            (json!([5]), "5"),
        ] {
            let error = parse_allowed_mime_types(&value).expect_err("malformed");
            assert_eq!(error.to_string(), format!("mime type {named} is not supported"));
        }
        let kept = parse_allowed_mime_types(&json!(["image/png", ""])).expect("valid");
        assert_eq!(kept, Some(vec!["image/png".to_owned()]));
    }
}
