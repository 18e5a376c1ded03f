//! How a request transaction can fail.

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Which statement of the transaction failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Begin,
    /// Making the settings: an unknown role, or one that the connection's role may not become.
    Settings,
    PreRequest,
    Statement,
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
    pub(crate) fn at(stage: Stage, error: &Error) -> Self {
        match error.as_db_error() {
            // The server ends the session: it restarts, or an administrator says so.
            Some(refusal)
                if [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN].contains(refusal.code()) =>
            {
                Self::Lost(refusal.message().to_owned())
            }
            Some(refusal) => Self::Database(Box::new(DatabaseError {
                stage,
                code: refusal.code().code().to_owned(),
                message: refusal.message().to_owned(),
                detail: refusal.detail().map(str::to_owned),
                hint: refusal.hint().map(str::to_owned),
            })),
            None => Self::Lost(describe(error)),
        }
    }

    pub(crate) fn unavailable(error: &Error) -> Self {
        Self::Unavailable(describe(error))
    }
}

/// The error with its causes, which `Display` of the driver's error leaves out.
fn describe(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
