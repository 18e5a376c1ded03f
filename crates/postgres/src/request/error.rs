//! How a request transaction can fail.

use crate::wire::{ErrorFields, Refusal};

/// Which statement of the transaction failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Begin,
    /// Making the settings: an unknown role, or one that the connection's role may not become.
    Settings,
    PreRequest,
    Statement,
    /// What runs after the statement.
    Explain,
    /// Deferred constraints are checked here.
    End,
}

/// PostgreSQL's refusal, in its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseError {
    pub stage: Stage,
    /// SQLSTATE, five characters.
    pub code: String,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
}

/// Why there are no rows.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// PostgreSQL refused.
    #[error("{}: {}", .0.code, .0.message)]
    Database(Box<DatabaseError>),
    /// No connection can be made.
    #[error("the database cannot be reached: {0}")]
    Unavailable(String),
    /// No connection became free in time.
    #[error("timed out waiting for a database connection")]
    Timeout,
    /// The connection broke; whether a write took effect is not known.
    #[error("the database connection was lost: {0}")]
    Lost(String),
}

impl RequestError {
    pub(crate) fn of(refusal: Refusal) -> Self {
        let ErrorFields {
            code,
            message,
            detail,
            hint,
            ..
        } = refusal.fields;
        // The server ends the session: it restarts, or an administrator says so.
        if ["57P01", "57P02"].contains(&code.as_str()) {
            return Self::Lost(message);
        }
        Self::Database(Box::new(DatabaseError {
            stage: refusal.stage,
            code,
            message,
            detail,
            hint,
        }))
    }
}
