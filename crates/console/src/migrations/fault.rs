//! Turns failures of migrations into errors of `/api`.

use actix_web::http::StatusCode;
use selvedge_postgres::migrate::{MigrateError, StatementFailure};
use serde_json::json;
use tokio_postgres::error::SqlState;

use crate::error::{ConsoleError, status_of};

impl From<MigrateError> for ConsoleError {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::Statement(failure) => from_statement(&failure),
            MigrateError::Split { source, .. } => {
                Self::invalid(source.to_string()).with("line", json!(source.line()))
            }
            MigrateError::History(conflict) => {
                Self::conflict(conflict.to_string()).with_hint("Look at them with `selvedge migrate list`.")
            }
            MigrateError::Postgres(error) => error.into(),
            MigrateError::File { path, source } => Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "file",
                format!("{} cannot be written: {source}", path.display()),
            ),
            other => Self::invalid(other.to_string()),
        }
    }
}

fn from_statement(failure: &StatementFailure) -> ConsoleError {
    let code = SqlState::from_code(&failure.sqlstate);
    let mut error = ConsoleError::new(status_of(&code), code.code(), failure.message.clone())
        .with("line", json!(failure.line));
    if let Some(detail) = &failure.detail {
        error = error.with("details", json!(detail));
    }
    if let Some(line) = failure.applied_before {
        return error.with_hint(format!(
            "What is before line {line} has taken effect, because a statement cannot run in a transaction. No file was written. Undo \
             it before the next attempt, or leave it out."
        ));
    }
    match (&failure.hint, &code) {
        (Some(hint), _) => error.with_hint(hint.clone()),
        (None, code) if *code == SqlState::LOCK_NOT_AVAILABLE => {
            error.with_hint("Somebody else is using the table. Try again when that has ended.")
        }
        (None, code) if *code == SqlState::ACTIVE_SQL_TRANSACTION => {
            error.with_hint("Migrations run in a transaction, in which this statement is not allowed.")
        }
        (None, _) => error,
    }
}
