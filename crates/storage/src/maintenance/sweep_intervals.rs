//! Sweeps at intervals, and asks between them whether another database has begun to use the store.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::metrics::OTHER_DATABASES;
use super::sweep::sweep;
use super::sweep_report::SweepOptions;
use crate::error::StorageError;
use crate::state::Storage;

/// How often is asked whether another database has begun to use the store.
const CLAIM_INTERVAL: Duration = Duration::from_secs(300);

/// Attempts that may fail while database and store are starting.
const PATIENT_ATTEMPTS: u32 = 5;

const UNCLAIMED: &str = "nobody knows whether another database uses the store of objects as well, so no bytes are removed from it: the credentials of \
     the store need the rights to list its bucket, and to read, write and delete below the prefix";

/// Sweeps at intervals, on a separate thread, until the storage is dropped.
///
/// # Errors
/// When the thread cannot be started.
pub fn sweep_at_intervals(storage: &Arc<Storage>, interval: Duration) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let storage = Arc::downgrade(storage);
    std::thread::Builder::new()
        .name("storage-sweeper".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                claim_store_patiently(&storage).await;
                sweep_forever(&storage, interval).await;
            });
        })?;
    Ok(())
}

/// Claims the store as soon as store and database can be reached.
async fn claim_store_patiently(storage: &Weak<Storage>) {
    let (mut pause, mut attempts) = (Duration::from_secs(1), 0);
    loop {
        let Some(storage) = storage.upgrade() else {
            return;
        };
        match claim_store(&storage).await {
            Ok(()) => return,
            // Database and store may be starting.
            Err(error) if attempts < PATIENT_ATTEMPTS => {
                tracing::debug!(%error, "the store of objects is not claimed yet");
            }
            Err(error) => {
                error.log();
                tracing::warn!(%error, "{UNCLAIMED}");
            }
        }
        attempts += 1;
        drop(storage);
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(600));
    }
}

/// The loop of [`sweep_at_intervals`]; reports are logged.
async fn sweep_forever(storage: &Weak<Storage>, interval: Duration) {
    let mut swept_at = Instant::now();
    loop {
        tokio::time::sleep(interval.min(CLAIM_INTERVAL)).await;
        let Some(storage) = storage.upgrade() else {
            return;
        };
        if swept_at.elapsed() < interval {
            if let Err(error) = claim_store(&storage).await {
                error.log();
                tracing::warn!(%error, "{UNCLAIMED}");
            }
            continue;
        }
        swept_at = Instant::now();
        // Rows without blobs are only reported: they are the evidence of a lost disk, and a restored backup may bring
        // the blobs back.
        match sweep(&storage, &SweepOptions::default()).await {
            Ok(Some(report)) if report.lost > 0 => {
                tracing::error!(?report, "objects have lost their bytes");
            }
            Ok(Some(report)) => tracing::info!(?report, "swept the store of objects"),
            Ok(None) => {}
            Err(error) => {
                error.log();
                tracing::warn!(%error, "the store of objects could not be swept");
            }
        }
    }
}

/// Says in the store that this database's objects are in it, so that no other database takes them for leftovers.
///
/// # Errors
/// Errors of the store and the database.
async fn claim_store(storage: &Arc<Storage>) -> Result<(), StorageError> {
    let pool = storage.sweeper_pool();
    let client = pool.get().await.map_err(StorageError::from_pool)?;
    let others = storage.ownership().list_others(&client).await?;
    OTHER_DATABASES.set(i64::try_from(others.len()).unwrap_or(i64::MAX));
    if !others.is_empty() {
        tracing::error!(
            ?others,
            "the store of objects is used by another database as well: nothing is removed from it, see `selvedge storage adopt`"
        );
    }
    Ok(())
}
