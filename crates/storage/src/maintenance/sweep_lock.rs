//! The lock by which one sweep runs at a time.

use deadpool_postgres::{Client, Transaction};

use crate::database::session::begin_service_transaction;
use crate::error::{StorageError, UniqueKey};
use crate::state::Storage;

/// Ensures one sweep at a time in a database, on all nodes. A row that only the server's login may lock, because any role could take an advisory
/// lock and keep everybody from sweeping.
const TAKE_LOCK: &str = "select from _selvedge.selvedge_internal_locks as l where l.name = 'storage sweep' for update skip locked";

const HAS_LOCK: &str =
    "select exists (select from _selvedge.selvedge_internal_locks as l where l.name = 'storage sweep')";

/// Begins a transaction that holds the lock; `None` when another sweep has it.
pub(super) async fn begin_locked<'c>(
    storage: &Storage,
    client: &'c mut Client,
) -> Result<Option<Transaction<'c>>, StorageError> {
    let transaction = begin_service_transaction(storage.database(), client, "storage.sweep").await?;
    // A pass over all rows may take longer than the timeouts of requests allow, and so may the store between two statements.
    transaction
        .batch_execute(
            "set local statement_timeout = 0; set local lock_timeout = 0; \
             set local idle_in_transaction_session_timeout = '10min'",
        )
        .await
        .map_err(map_error)?;
    let has_lock = take_lock(&transaction).await?;
    Ok(has_lock.then_some(transaction))
}

/// Takes the lock until the end of the transaction, as the login itself and not as the service; false when another sweep has it.
async fn take_lock(transaction: &Transaction<'_>) -> Result<bool, StorageError> {
    let role: String = transaction
        .query_one("select current_user::text", &[])
        .await
        .map_err(map_error)?
        .try_get(0)
        .map_err(StorageError::internal)?;
    transaction
        .batch_execute("set local role none")
        .await
        .map_err(map_error)?;
    let lock = transaction.query_opt(TAKE_LOCK, &[]).await.map_err(map_error)?;
    let has_lock = transaction.query_one(HAS_LOCK, &[]).await.map_err(map_error)?;
    if !has_lock.try_get::<_, bool>(0).map_err(StorageError::internal)? {
        return Err(StorageError::internal(
            "the row 'storage sweep' of _selvedge.selvedge_internal_locks is missing",
        ));
    }
    transaction
        .execute("select pg_catalog.set_config('role', $1, true)", &[&role])
        .await
        .map_err(map_error)?;
    Ok(lock.is_some())
}

/// Maps an error of a statement of the sweep.
pub(super) fn map_error(error: tokio_postgres::Error) -> StorageError {
    StorageError::from_tokio_postgres(error, UniqueKey::Other)
}
