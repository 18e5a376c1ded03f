//! Why an attempt at a picture, or a statement of the queue, failed.

use std::time::Duration;

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;
use uuid::Uuid;

use crate::store::StoreError;

/// Texts that owners read on their job. They name neither hosts nor causes, which are logged instead.
pub(crate) mod texts {
    pub(crate) const TOO_SLOW: &str = "Making the picture took too long.";
    pub(crate) const UNREACHABLE: &str = "The picture service cannot be reached at the moment.";
    pub(crate) const REFUSED: &str = "The picture service refused the request.";
    pub(crate) const NOT_DELIVERED: &str = "The picture did not arrive in time.";
    pub(crate) const NO_PHOTO: &str =
        "None of your photos can be used. Replace them with photos in JPEG, PNG or WebP.";
    pub(crate) const NO_ITEMS: &str = "None of the item pictures can be used.";
    pub(crate) const STORE: &str = "A file could not be read or saved.";
    pub(crate) const INTERNAL: &str = "Something went wrong while the picture was made.";
}

/// How an attempt ended without a picture.
#[derive(Debug)]
pub(crate) enum AttemptError {
    /// The job was cancelled or deleted, or another worker has taken it over: nothing is left to record.
    Gone,
    /// A further attempt would fail in the same way; the text is for the owner.
    Permanent(String),
    /// A later attempt may succeed.
    Temporary {
        /// Error text shown to the owner of the job.
        message: String,
        /// The value of Retry-After.
        retry_after: Option<Duration>,
    },
    /// The queue itself failed, so the outcome cannot be recorded; the lease will expire.
    Queue(QueueError),
}

impl AttemptError {
    /// A failure after which the usual pause is made.
    pub(crate) fn temporary(message: &str) -> Self {
        Self::Temporary {
            message: message.to_owned(),
            retry_after: None,
        }
    }
}

impl From<QueueError> for AttemptError {
    fn from(error: QueueError) -> Self {
        Self::Queue(error)
    }
}

impl From<StoreError> for AttemptError {
    /// An object that is missing or no picture stays so; other failures of the store may pass.
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Missing | StoreError::Unreadable => Self::Permanent(texts::STORE.to_owned()),
            StoreError::Failed(cause) => {
                tracing::warn!(cause, "a file of a generated picture cannot be used");
                Self::temporary(texts::STORE)
            }
        }
    }
}

/// A failing statement or connection of the queue.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueueError {
    #[error("{}", describe(.0))]
    Postgres(#[from] tokio_postgres::Error),
    #[error("no database connection: {0}")]
    Pool(#[from] PoolError),
    /// A row has values that the contract of the table rules out.
    #[error("the row of job {id} is malformed: {reason}")]
    Malformed { id: Uuid, attempt: i32, reason: String },
}

impl QueueError {
    /// Whether the project has no table of jobs, or one with other columns.
    pub(crate) fn is_missing_table(&self) -> bool {
        let Self::Postgres(error) = self else {
            return false;
        };
        matches!(
            error.code(),
            Some(&SqlState::UNDEFINED_TABLE | &SqlState::UNDEFINED_COLUMN | &SqlState::INVALID_SCHEMA_NAME)
        )
    }
}

/// PostgreSQL's message, which `Display` of tokio-postgres' error leaves to its source.
fn describe(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => error.message().to_owned(),
        None => error.to_string(),
    }
}
