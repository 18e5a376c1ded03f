//! Says whose the stored objects are, after a database was moved, restored or copied.

use std::sync::Arc;

use crate::error::StorageError;
use crate::state::Storage;

/// Says that all stored objects are of this database: removes the marks of all others, and returns their names.
///
/// # Errors
/// Errors of the store and the database.
pub async fn adopt_store(storage: &Arc<Storage>) -> Result<Vec<String>, StorageError> {
    let pool = storage.sweeper_pool();
    let client = pool.get().await.map_err(StorageError::from_pool)?;
    storage.ownership().adopt(&client).await
}
