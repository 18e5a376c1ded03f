//! Checks a requested migration before anything of it runs.

use selvedge_postgres::migrate::{first_word, split_statements};
use serde::Deserialize;
use serde_json::json;

use crate::error::ConsoleError;

/// The most characters of a name, because most systems allow 255 bytes for a file name.
const LONGEST_NAME: usize = 80;

/// Words that begin or end a transaction. The file and its history row are kept together by the transaction around it.
const TRANSACTION_WORDS: [&str; 7] = ["begin", "start", "commit", "end", "rollback", "abort", "prepare"];

/// The body of `POST /api/migrations`.
#[derive(Deserialize)]
pub(super) struct MigrationRequest {
    /// The file's name without its version and ending.
    pub(super) name: String,
    pub(super) sql: String,
    #[serde(default)]
    pub(super) preview: bool,
}

/// Checks a request. Refused are names that cannot be part of a file name, empty texts, and texts with transaction commands.
pub(super) fn check_request(request: &MigrationRequest) -> Result<(), ConsoleError> {
    let name = &request.name;
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(is_word) {
        return Err(ConsoleError::invalid(format!(
            "The name of a migration has 1 to {LONGEST_NAME} small letters, digits and underscores"
        )));
    }
    if request.sql.contains('\0') {
        return Err(ConsoleError::invalid("The text contains a NUL character"));
    }
    let statements = split_statements(&request.sql)
        .map_err(|error| ConsoleError::invalid(error.to_string()).with("line", json!(error.line())))?;
    if statements.is_empty() {
        return Err(ConsoleError::invalid("The migration has no statement"));
    }
    for statement in statements {
        let word = first_word(statement.text).to_ascii_lowercase();
        if TRANSACTION_WORDS.contains(&word.as_str()) {
            return Err(
                ConsoleError::invalid(format!("A migration cannot contain {}", word.to_uppercase()))
                    .with_hint("All of its statements run in one transaction.")
                    .with("line", json!(statement.line)),
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_accepted(name: &str, sql: &str) -> bool {
        let request = MigrationRequest {
            name: name.to_owned(),
            sql: sql.to_owned(),
            preview: false,
        };
        check_request(&request).is_ok()
    }

    #[test]
    fn console_166_names_cannot_leave_the_folder() {
        for name in ["", "../x", "a/b", "a b", "é", ".x", "A", "a\0", &"a".repeat(81)] {
            assert!(!is_accepted(name, "select 1"), "{name}");
        }
        assert!(is_accepted("add_likes_2", "select 1"));
    }

    #[test]
    fn console_071_a_text_cannot_end_the_transaction_around_it() {
        for sql in [
            "",
            "-- nothing",
            "create table a(); commit; create table b()",
            "/* x */ ROLLBACK",
            "end",
            "prepare transaction 'x'",
            "select 'open",
        ] {
            assert!(!is_accepted("x", sql), "{sql}");
        }
        assert!(is_accepted(
            "x",
            "do $$ begin perform 1; end $$; comment on table a is 'commit'"
        ));
    }
}
