//! The lines of an answer: one JSON object each.

use selvedge_postgres::TextNotice;
use serde_json::{Value, json};

/// A line.
pub(super) fn line(event: &Value) -> Vec<u8> {
    let mut line = event.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// `error`: `start` is how many characters of the whole text come before the statement, so that the position is one in the text.
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

/// `error` for what is not PostgreSQL's.
pub(super) fn own_error(index: Option<usize>, code: &str, message: &str) -> Value {
    json!({ "event": "error", "index": index, "code": code, "message": message })
}

/// `notice`
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
