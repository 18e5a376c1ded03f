//! Removes uploads that were not finished in time, and the rows of completed ones, at regular intervals.

use std::rc::Rc;

use super::upload_table::UploadTable;
use crate::database::session::{DbSession, RequestFacts};
use crate::error::StorageError;
use crate::identity::Identity;
use crate::state::StorageWorker;

/// Removes expired uploads at intervals, until the worker stops. Several nodes may do so at the same time.
pub(crate) async fn expire_uploads_forever(worker: StorageWorker) {
    let interval = worker.storage().config().resumable_sweep_interval;
    loop {
        tokio::time::sleep(interval).await;
        if let Err(error) = expire_uploads(&worker).await {
            tracing::warn!(%error, "expired resumable uploads could not be removed");
        }
    }
}

async fn expire_uploads(worker: &StorageWorker) -> Result<(), StorageError> {
    let facts = Rc::new(RequestFacts::of_background_work("storage.tus.upload.delete"));
    let uploads = UploadTable {
        service: DbSession::new(worker.clone(), facts, Identity::service()),
        lifetime: worker.storage().config().resumable_upload_lifetime,
    };
    let mut ended = 0;
    for upload in uploads.expired().await? {
        // A request of this process is writing to it and extends its lifetime.
        let Some(_lock) = worker.storage().upload_locks().acquire_if_free(upload.version) else {
            continue;
        };
        // The lock covers this process only. A request on another node may have extended the upload, so the statement
        // checks the expiry again.
        let is_removed = uploads.remove_expired(&upload).await?;
        ended += usize::from(is_removed && !upload.completed);
    }
    if ended > 0 {
        tracing::info!(ended, "removed resumable uploads that nobody finished");
    }
    Ok(())
}
