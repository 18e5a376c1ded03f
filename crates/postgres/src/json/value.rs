//! Writes one value as JSON, from the text that PostgreSQL sent.

use super::array::write_array;
use super::escape::write_string;
use super::text_form::TextForm;

/// Appends a value that is not null.
pub(super) fn write_value(out: &mut Vec<u8>, kind: &TextForm, text: &[u8]) {
    match kind {
        TextForm::Boolean => out.extend_from_slice(if text == b"t" { b"true" } else { b"false" }),
        TextForm::Integer | TextForm::Json => out.extend_from_slice(text),
        TextForm::Number if is_number(text) => out.extend_from_slice(text),
        TextForm::Number | TextForm::Plain => write_plain(out, text),
        TextForm::Text => write_string(out, text),
        TextForm::Timestamp => write_timestamp(out, text, false),
        TextForm::TimestampWithZone => write_timestamp(out, text, true),
        TextForm::Array(element) => write_array(out, text, |out, text| write_value(out, element, text)),
    }
}

/// `NaN` and `Infinity` begin with a letter after the sign; numbers begin with a digit.
fn is_number(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    digits.first().is_some_and(u8::is_ascii_digit)
}

fn write_plain(out: &mut Vec<u8>, text: &[u8]) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    out.extend_from_slice(text);
    out.push(b'"');
}

/// `2026-01-31 12:00:00+02` → `"2026-01-31T12:00:00+02:00"`. ` BC` may follow; `infinity` has no time part.
fn write_timestamp(out: &mut Vec<u8>, text: &[u8], with_zone: bool) {
    let Some(at) = text.iter().position(|byte| *byte == b' ') else {
        return write_plain(out, text);
    };
    let (date, rest) = text.split_at(at);
    let rest = rest.get(1..).unwrap_or_default();
    let (time, era) = match rest.iter().position(|byte| *byte == b' ') {
        Some(end) => rest.split_at(end),
        None => (rest, &b""[..]),
    };
    out.reserve(text.len() + 5);
    out.push(b'"');
    out.extend_from_slice(date);
    out.push(b'T');
    out.extend_from_slice(time);
    if with_zone {
        let zone = time.iter().rposition(|byte| matches!(byte, b'+' | b'-'));
        // PostgreSQL writes `+02` for whole hours; JSON timestamps (ISO 8601) have the minutes, too.
        if zone.is_some_and(|zone| time.len() - zone == 3) {
            out.extend_from_slice(b":00");
        }
    }
    out.extend_from_slice(era);
    out.push(b'"');
}
