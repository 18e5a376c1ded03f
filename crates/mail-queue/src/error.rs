//! Why a statement of the queue failed.

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

/// A failing statement or connection of the queue.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueueError {
    #[error("{}", describe(.0))]
    Postgres(#[from] tokio_postgres::Error),
    #[error("no database connection: {0}")]
    Pool(#[from] PoolError),
}

impl QueueError {
    /// Whether the project has no such table, or one with other columns.
    pub(crate) fn is_missing_table(&self) -> bool {
        let Self::Postgres(error) = self else {
            return false;
        };
        matches!(
            error.code(),
            Some(
                &SqlState::UNDEFINED_TABLE
                    | &SqlState::UNDEFINED_COLUMN
                    | &SqlState::INVALID_SCHEMA_NAME
                    | &SqlState::INSUFFICIENT_PRIVILEGE
            )
        )
    }

    /// Whether a trigger of the project fails, as for the data of one mail.
    pub(crate) fn is_of_a_mail(&self) -> bool {
        let Self::Postgres(error) = self else {
            return false;
        };
        // Classes of errors in data, constraints, functions and expressions; others are of the connection or the server.
        let is_of_data = |code: &SqlState| {
            ["21", "22", "23", "2F", "38", "39", "42", "44", "P0"]
                .iter()
                .any(|class| code.code().starts_with(class))
        };
        !self.is_missing_table() && error.code().is_some_and(is_of_data)
    }
}

/// PostgreSQL's message, which `Display` of tokio-postgres' error leaves to its source.
fn describe(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => error.message().to_owned(),
        None => error.to_string(),
    }
}
