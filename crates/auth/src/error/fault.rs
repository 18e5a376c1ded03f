//! Causes of 500 responses. They are logged and never sent to the client.

use deadpool_postgres::PoolError;
use selvedge_mail::MailError;
use selvedge_token::TokenError;

use super::ProviderError;

/// The cause of a 500: a fault inside the service or in a service that it calls.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("{}", describe_postgres(.0))]
    Postgres(#[from] tokio_postgres::Error),
    #[error("no database connection: {0}")]
    Pool(#[from] PoolError),
    #[error(transparent)]
    Mail(#[from] MailError),
    #[error(transparent)]
    Hash(#[from] bcrypt::BcryptError),
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// Any other cause, described by a fixed text.
    #[error("{0}")]
    Other(&'static str),
}

/// SQLSTATE and message of the database server; the driver's own `Display` text leaves them out.
fn describe_postgres(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) => format!("{}: {}", db.code().code(), db.message()),
        None => error.to_string(),
    }
}
