//! Removes uploads that were not finished in time, and the rows of completed ones.

use super::upload_table::{MOST_EXPIRED, UploadTable};
use crate::database::session::DbSession;
use crate::error::StorageError;

/// Removes all expired uploads. Several nodes may do so at the same time. `service` is a session of the service.
///
/// # Errors
/// Those of the database.
pub(crate) async fn expire_resumable_uploads(service: DbSession) -> Result<(), StorageError> {
    let uploads = UploadTable::new(service);
    let mut ended = 0;
    loop {
        let expired = uploads.expired().await?;
        let mut removed = 0;
        for upload in &expired {
            // A request of this process is writing to it and extends its lifetime.
            let Some(_lock) = uploads
                .service
                .storage()
                .upload_locks()
                .acquire_if_free(upload.version)
            else {
                continue;
            };
            // The lock covers this process only. A request on another node may have extended the upload, so the statement
            // checks the expiry again.
            let is_removed = uploads.remove_expired(upload).await?;
            removed += usize::from(is_removed);
            ended += usize::from(is_removed && !upload.completed);
        }
        // Without a removal the next list would be the same.
        if expired.len() < MOST_EXPIRED || removed == 0 {
            break;
        }
    }
    if ended > 0 {
        tracing::info!(ended, "removed resumable uploads that nobody finished");
    }
    Ok(())
}
