//! Ends uploads that nobody finished in time, and forgets completed ones.

use std::rc::Rc;

use super::upload::Uploads;
use crate::error::StorageError;
use crate::identity::Identity;
use crate::serve::StorageWorker;
use crate::session::{RequestFacts, Session};

/// Looks for expired uploads from time to time, for as long as the worker lives. Several nodes may do so at once.
pub(crate) async fn sweep_forever(worker: StorageWorker) {
    let interval = worker.storage().config().resumable_sweep_interval;
    loop {
        tokio::time::sleep(interval).await;
        if let Err(error) = sweep(&worker).await {
            tracing::warn!(%error, "expired resumable uploads could not be removed");
        }
    }
}

async fn sweep(worker: &StorageWorker) -> Result<(), StorageError> {
    let facts = Rc::new(RequestFacts::internal("storage.tus.upload.delete"));
    let uploads = Uploads {
        service: Session::new(worker.clone(), facts, Identity::service()),
        lifetime: worker.storage().config().resumable_upload_lifetime,
    };
    let mut ended = 0;
    for upload in uploads.expired().await? {
        // Somebody works on it: it will live.
        let Some(_hold) = worker.storage().writers().acquire_idle(upload.version) else {
            continue;
        };
        uploads.remove_expired(&upload).await?;
        ended += usize::from(!upload.completed);
    }
    if ended > 0 {
        tracing::info!(ended, "removed resumable uploads that nobody finished");
    }
    Ok(())
}
