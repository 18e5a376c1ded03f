//! How a request transaction can fail.

use super::stage::TransactionStage;
use crate::wire::{ErrorFields, Refusal};

/// The C function in the error field `routine` when Citus cannot plan a query.
const CITUS_PLANNER: &str = "RaiseDeferredErrorInternal";
/// The hint of such errors if Citus gives none.
const CITUS_HINT: &str = "Citus cannot run this on distributed tables. Filter by the distribution column, or ask for the tables one by one.";

/// An error that PostgreSQL reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseError {
    pub stage: TransactionStage,
    /// SQLSTATE: five characters.
    pub code: String,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
}

/// Why a request transaction returned no rows.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// PostgreSQL reported an error; the transaction has been rolled back.
    #[error("{}: {}", .0.code, .0.message)]
    Database(Box<DatabaseError>),
    /// No connection can be opened.
    #[error("the database cannot be reached: {0}")]
    Unavailable(String),
    /// No connection became free in time.
    #[error("timed out waiting for a database connection")]
    Timeout,
    /// The connection broke. Whether a write was committed is not known.
    #[error("the database connection was lost: {0}")]
    Lost(String),
    /// The result does not fit into the memory that is left.
    #[error("the result does not fit into the memory that is left")]
    OutOfMemory {
        /// Whether the statement has taken effect nevertheless.
        is_committed: bool,
    },
}

impl RequestError {
    pub(crate) fn from_refusal(refusal: Refusal) -> Self {
        let ErrorFields {
            code,
            message,
            detail,
            hint,
            routine,
            ends_session: _,
        } = refusal.fields;
        // admin_shutdown, crash_shutdown and idle_in_transaction_session_timeout: the server ends the session, so nothing is
        // wrong with the statement.
        if ["57P01", "57P02", "25P03"].contains(&code.as_str()) {
            return Self::Lost(message);
        }
        let hint = hint.or_else(|| (routine == CITUS_PLANNER).then(|| CITUS_HINT.to_owned()));
        Self::Database(Box::new(DatabaseError {
            stage: refusal.stage,
            code,
            message,
            detail,
            hint,
        }))
    }
}
