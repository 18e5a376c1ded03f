//! Repeats transactions that PostgreSQL has ended because they and others waited for each other.

use crate::error::StorageError;

/// How often a transaction is begun. One repetition is usually enough, because the transactions that it waited for have ended by then.
const MAX_ATTEMPTS: usize = 4;

/// Runs a transaction, and repeats it if it ends in a deadlock, in which case it has changed nothing.
///
/// # Errors
/// The transaction's error; `Deadlock` after several attempts.
pub(crate) async fn repeat_after_deadlock<T>(
    mut transaction: impl AsyncFnMut() -> Result<T, StorageError>,
) -> Result<T, StorageError> {
    for _ in 1..MAX_ATTEMPTS {
        match transaction().await {
            Err(StorageError::Deadlock) => {}
            ended => return ended,
        }
    }
    transaction().await
}
