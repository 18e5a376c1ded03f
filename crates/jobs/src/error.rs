//! Why the workers of this node stopped; the node then tries to lead again.

use std::time::Duration;

/// A lost or failing database connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JobsError {
    /// The database cannot be reached, or refuses the login.
    #[error("{}", describe(.0))]
    Login(tokio_postgres::Error),
    /// None of the servers has answered as the primary in time.
    #[error("no primary answers")]
    NoPrimary,
    /// A statement of a worker failed.
    #[error("{}", describe(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// The connection that holds the lock ended, so another node may lead now.
    #[error("the connection that holds the lock was lost")]
    LockLost,
    /// The node did not run for so long that another one may lead now.
    #[error("this node was frozen for {} s", .0.as_secs())]
    Frozen(Duration),
}

/// PostgreSQL's message, which `Display` of tokio-postgres' error leaves to its source.
fn describe(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => error.message().to_owned(),
        None => error.to_string(),
    }
}
