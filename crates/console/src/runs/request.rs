//! Reads a request to run SQL, and splits its text into statements.

use std::time::Duration;

use selvedge_postgres::migrate::split_statements;
use serde::Deserialize;
use serde_json::json;

use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::Level;
use crate::subject::Subject;

/// The body of `POST /api/sql/runs`.
#[derive(Deserialize)]
pub(super) struct RunRequest {
    /// An id that the browser half chooses, by which it can cancel the run.
    pub(super) id: String,
    pub(super) text: String,
    #[serde(default)]
    pub(super) subject: Subject,
    #[serde(default)]
    pub(super) transaction: TransactionMode,
    #[serde(default)]
    pub(super) timeout_s: Option<u64>,
}

/// Whether the statements stand or fall together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TransactionMode {
    /// All statements run in one transaction, so an error takes all of them back.
    #[default]
    One,
    /// Each statement commits by itself, so what ran before an error stays.
    Autocommit,
}

/// A statement and its position in the sent text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    /// The number of characters before the statement.
    pub(super) start: usize,
    /// The number of characters before the statement's end.
    pub(super) end: usize,
}

impl RunRequest {
    /// Returns the time limit that was asked for, but never more than the settings allow.
    pub(super) fn time_limit(&self, longest: Duration) -> Duration {
        self.timeout_s.map_or(longest, |seconds| {
            Duration::from_secs(seconds.max(1)).min(longest)
        })
    }
}

/// Splits a text into statements. Viewers run one at a time, so that no earlier statement can change settings for it
/// (CONSOLE-017).
pub(super) fn split_text(text: &str, session: &Session) -> Result<Vec<Piece>, ConsoleError> {
    // The protocol ends texts with this character, and what follows it would silently be left out.
    if text.contains('\0') {
        return Err(ConsoleError::invalid("The text contains a NUL character"));
    }
    let statements = split_statements(text)
        .map_err(|error| ConsoleError::invalid(error.to_string()).with("line", json!(error.line())))?;
    if session.level == Level::Viewer && statements.len() > 1 {
        return Err(ConsoleError::forbidden("A viewer runs one statement at a time"));
    }
    let mut pieces = Vec::with_capacity(statements.len());
    // Positions are counted on from the statement before: counting each from the start would be slow for a long script.
    let (mut bytes, mut characters) = (0, 0);
    for statement in statements {
        let from = statement.text.as_ptr() as usize - text.as_ptr() as usize;
        let to = from + statement.text.len();
        let start = characters + text[bytes..from].chars().count();
        let end = start + statement.text.chars().count();
        (bytes, characters) = (to, end);
        pieces.push(Piece {
            text: statement.text.to_owned(),
            start,
            end,
        });
    }
    Ok(pieces)
}

/// Checks that the account may run something as this subject.
pub(super) fn check_subject(subject: &Subject, session: &Session) -> Result<(), ConsoleError> {
    // A text can set its own claims and role, so as a caller of the API a viewer could become any other caller.
    if session.level == Level::Viewer && *subject != Subject::Admin {
        return Err(ConsoleError::forbidden("A viewer runs SQL by his own login only"));
    }
    Ok(())
}
