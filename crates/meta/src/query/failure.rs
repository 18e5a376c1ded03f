//! Renders the error of a statement as postgres-meta does: PostgreSQL's fields, and a text like that of psql.

use std::fmt::Write as _;

use selvedge_postgres::TextNotice;
use serde_json::{Map, Value, json};

use crate::error::MetaError;

/// Renders the error of a statement. `begins_at` is the offset, in characters, of the statement in the body's text.
pub(super) fn describe_failure(error: &TextNotice, sql: &str, begins_at: isize) -> MetaError {
    let position = error
        .position
        .map(|position| position.saturating_add_signed(begins_at).max(1));
    let formatted = format_failure(error, sql, position);
    let mut members = Map::new();
    members.insert("error".into(), json!(formatted));
    members.insert("length".into(), json!(error.length));
    members.insert("name".into(), json!("error"));
    members.insert("severity".into(), json!(error.severity));
    members.insert("code".into(), json!(error.code));
    let optional = [
        ("detail", error.detail.clone()),
        ("hint", error.hint.clone()),
        // node-postgres passes the number on as the text that the protocol carries.
        ("position", position.map(|position| position.to_string())),
        ("internalPosition", error.internal_position.clone()),
        ("internalQuery", error.internal_query.clone()),
        ("where", error.context.clone()),
        ("schema", error.object.schema.clone()),
        ("table", error.object.table.clone()),
        ("column", error.object.column.clone()),
        ("dataType", error.object.data_type.clone()),
        ("constraint", error.object.constraint.clone()),
        ("file", error.file.clone()),
        ("line", error.line.clone()),
        ("routine", error.routine.clone()),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            members.insert(name.into(), Value::String(value));
        }
    }
    members.insert("message".into(), json!(error.message));
    members.insert("formattedError".into(), json!(formatted));
    MetaError::Statement(members)
}

/// Returns the error for a result above the limit in bytes.
pub(super) fn result_too_large(bytes: usize, limit: usize) -> MetaError {
    let message = format!("Query result size ({bytes} bytes) exceeded the configured limit ({limit} bytes)");
    let mut members = Map::new();
    members.insert("error".into(), json!(message));
    members.insert("message".into(), json!(message));
    members.insert("code".into(), json!("RESULT_SIZE_EXCEEDED"));
    members.insert("resultSize".into(), json!(bytes));
    members.insert("maxResultSize".into(), json!(limit));
    MetaError::Statement(members)
}

fn format_failure(error: &TextNotice, sql: &str, position: Option<usize>) -> String {
    let mut text = format!("{}:  {}: {}\n", error.severity, error.code, error.message);
    if let Some((number, line, column)) = position.and_then(|position| find_line(sql, position)) {
        let margin = format!("LINE {number}: ");
        let indent = " ".repeat(margin.len() + column);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{margin}{line}\n{indent}^");
    }
    let fields = [
        ("DETAIL", &error.detail),
        ("HINT", &error.hint),
        ("QUERY", &error.internal_query),
        ("CONTEXT", &error.context),
    ];
    for (label, value) in fields {
        if let Some(value) = value {
            let _ = writeln!(text, "{label}:  {value}");
        }
    }
    text
}

/// Finds the line with the character at `position` (from 1): returns the line's number from 1, its text, and the column from 0.
fn find_line(sql: &str, position: usize) -> Option<(usize, &str, usize)> {
    let mut before = position - 1;
    for (index, line) in sql.split('\n').enumerate() {
        let length = line.chars().count();
        if before <= length {
            return Some((index + 1, line, before));
        }
        before -= length + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_points_at_the_character_at_fault() {
        let error = TextNotice {
            severity: "ERROR".into(),
            code: "42703".into(),
            message: "column \"nope\" does not exist".into(),
            position: Some(8),
            ..TextNotice::default()
        };
        assert_eq!(
            format_failure(&error, "select 1;\nselect nope", Some(18)),
            "ERROR:  42703: column \"nope\" does not exist\nLINE 2: select nope\n               ^\n"
        );
    }
}
