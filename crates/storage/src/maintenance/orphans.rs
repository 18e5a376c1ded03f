//! Removes the bytes without a row that a sweep has found.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool_postgres::Client;

use super::sweep_lock::{begin_locked, map_error};
use super::sweep_report::{SweepOptions, SweepReport};
use crate::backend::{BackendResult, Version};
use crate::error::StorageError;
use crate::state::Storage;

/// Orphans that are removed in one transaction.
const BATCH: usize = 100;
/// How long a transaction goes on with its batch. The store may need seconds for a large blob, and PostgreSQL ends a transaction that is idle for ten minutes.
const BATCH_TIME: Duration = Duration::from_secs(60);

/// Moves the orphans to the trash, after what is there for long enough was removed from it: a store that is full has no room for a copy. Each batch
/// has a transaction of its own, which holds the lock: one for all would be ended by PostgreSQL, and hold back its vacuum.
pub(super) async fn remove_orphans(
    storage: &Arc<Storage>,
    options: &SweepOptions,
    client: &mut Client,
    orphans: &[Version],
    report: &mut SweepReport,
) -> Result<(), StorageError> {
    report.trash_removed = storage.backend().empty_trash(options.keep_trash_for).await?;
    let mut left = orphans;
    while !left.is_empty() {
        let Some(transaction) = begin_locked(storage, client).await? else {
            tracing::info!(
                left = left.len(),
                "another sweep goes on with the bytes without an object"
            );
            return Ok(());
        };
        let (done, outcome) = remove_batch(storage, options, left).await;
        left = &left[done..];
        report.removed += done as u64;
        if let Err(error) = outcome {
            tracing::warn!(
                removed = report.removed,
                left = left.len(),
                "a sweep was cut off: what it has removed stays in the trash"
            );
            return Err(error.into());
        }
        transaction.commit().await.map_err(map_error)?;
        tracing::info!(
            removed = report.removed,
            left = left.len(),
            "stored bytes without an object were removed"
        );
    }
    Ok(())
}

/// Removes the first orphans of a list; returns how many, also after an error.
async fn remove_batch(
    storage: &Storage,
    options: &SweepOptions,
    orphans: &[Version],
) -> (usize, BackendResult<()>) {
    let (started, backend) = (Instant::now(), storage.backend());
    // One after the other: a sweep is not in a hurry, and requests share the store.
    for (done, version) in orphans.iter().take(BATCH).enumerate() {
        if done > 0 && started.elapsed() > BATCH_TIME {
            return (done, Ok(()));
        }
        let removed = match options.keep_trash_for.is_zero() {
            true => backend.remove(*version).await,
            false => backend.trash(*version).await,
        };
        if let Err(error) = removed {
            return (done, Err(error));
        }
    }
    (orphans.len().min(BATCH), Ok(()))
}
