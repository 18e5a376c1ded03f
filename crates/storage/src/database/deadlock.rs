//! Repeats transactions that PostgreSQL has ended because they and others waited for each other.

use crate::error::StorageError;

/// How often a transaction is begun. Who comes second in a circle finds it open: the others have ended by then.
const MAX_ATTEMPTS: usize = 4;

/// Runs a transaction, and again if it ends in a deadlock: it has changed nothing then.
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
