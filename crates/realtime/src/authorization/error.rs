//! Errors of policy checks.

use deadpool_postgres::{PoolError, TimeoutType};
use tokio_postgres::error::SqlState;

/// A check that gave no verdict. PostgreSQL's message is only logged, because it may reveal data that a policy reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckError {
    /// A policy raised an error, or the role does not exist: treated as denied.
    Policy,
    /// The statement was cancelled, by the timeout or by an administrator.
    Canceled,
    /// `realtime.messages` has no partition for today; PostgreSQL reports this as a check violation (23514).
    MissingPartition,
    /// No connection became free in time.
    PoolExhausted,
    /// The database cannot be reached.
    Unavailable,
}

impl From<PoolError> for CheckError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Timeout(TimeoutType::Wait) => Self::PoolExhausted,
            PoolError::Backend(error) => Self::from(error),
            _ => Self::Unavailable,
        }
    }
}

impl From<tokio_postgres::Error> for CheckError {
    fn from(error: tokio_postgres::Error) -> Self {
        let failure = match error.code() {
            None => Self::Unavailable,
            Some(code) if *code == SqlState::QUERY_CANCELED => Self::Canceled,
            Some(code) if *code == SqlState::CHECK_VIOLATION => Self::MissingPartition,
            // A lock that was not given, a conflict or a deadlock: the same question may be answered a moment later.
            Some(code) if ["40", "55"].iter().any(|class| code.code().starts_with(class)) => Self::Canceled,
            // The connection, its session or the server's resources.
            Some(code)
                if ["08", "25", "53", "57"]
                    .iter()
                    .any(|class| code.code().starts_with(class)) =>
            {
                Self::Unavailable
            }
            Some(_) => Self::Policy,
        };
        let code = error.code().map(SqlState::code);
        tracing::warn!(error_code = "RlsPolicyError", sqlstate = code, %error, "a policy check of realtime failed");
        failure
    }
}
