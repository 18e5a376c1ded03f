//! Writes the lines of an answer, each of which is one JSON object.

use selvedge_postgres::TextNotice;
use serde_json::{Value, json};

/// Returns the event as a line of the answer, ended by a line feed.
pub(super) fn line(event: &Value) -> Vec<u8> {
    let mut line = event.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Makes an `error` event. `start` is the number of characters before the statement, so that the position counts from
/// the start of the whole text.
pub(super) fn error(index: Option<usize>, start: usize, error: &TextNotice) -> Value {
    json!({
        "event": "error",
        "index": index,
        "code": error.code,
        "message": error.message,
        "detail": error.detail,
        "hint": error.hint,
        "context": error.context,
        "position": error.position.map(|position| position + start),
    })
}

/// Makes an `error` event for a failure that PostgreSQL did not report, such as a lost connection.
pub(super) fn own_error(index: Option<usize>, code: &str, message: &str) -> Value {
    json!({ "event": "error", "index": index, "code": code, "message": message })
}

/// Makes a `notice` event for what a statement has raised below an error.
pub(super) fn notice(index: usize, notice: &TextNotice) -> Value {
    json!({
        "event": "notice",
        "index": index,
        "severity": notice.severity,
        "code": notice.code,
        "message": notice.message,
        "detail": notice.detail,
        "hint": notice.hint,
    })
}
