//! Finishes a full upload: the pieces become one blob, the blob becomes an object. Every step can be repeated, so that
//! the next request finishes what a crash interrupted.

use md5::Digest;

use super::digest::restore_md5;
use super::error::TusError;
use super::upload_table::{ResumableUpload, UploadTable};
use crate::backend::{BackendError, BlobInfo, BlobStat};
use crate::database::object_row::Declared;
use crate::error::StorageError;
use crate::object::commit::{NewObject, commit_object};
use crate::object::pending_blob::PendingBlob;

/// Creates the object of a complete upload, unless it exists already.
///
/// After a transient error (a lock, a time-out) the upload stays and can be finished later; any other error removes it.
///
/// # Errors `KeyAlreadyExists` and other errors of the database; `NotFound` when the pieces were removed.
pub(super) async fn finish_upload(
    uploads: &UploadTable,
    mut upload: ResumableUpload,
) -> Result<ResumableUpload, TusError> {
    // An earlier attempt may have made the object and crashed before the row said so.
    if !uploads.is_committed(&upload).await? {
        match commit_upload(uploads, &upload).await {
            Ok(()) => {}
            Err(error) if is_transient(&error) => return Err(error.into()),
            Err(error) => {
                uploads.remove(&upload).await?;
                return Err(match error {
                    StorageError::BlobMissing => TusError::NotFound,
                    other => other.into(),
                });
            }
        }
    }
    uploads.complete(upload.version).await?;
    upload.completed = true;
    Ok(upload)
}

async fn commit_upload(uploads: &UploadTable, upload: &ResumableUpload) -> Result<(), StorageError> {
    let commit_as = upload
        .commit_as
        .as_ref()
        .ok_or_else(|| StorageError::internal("a full upload without an owner to commit it as"))?;
    let storage = uploads.service.storage();
    let stat = join_pieces(uploads, upload).await?;
    // Retained when the commit fails: after a transient error the next attempt needs it, and the caller removes it
    // after any other.
    let blob = PendingBlob::retained(storage, upload.version);
    let info = BlobInfo {
        size_bytes: stat.size_bytes,
        etag: format!("\"{}\"", hex::encode(restore_md5(&upload.digest).finalize())),
        modified: stat.modified,
    };
    // TUS has no header for a robots tag, so these objects have none.
    let declared = Declared {
        mime_type: upload
            .content_type
            .clone()
            .unwrap_or_else(|| "application/octet-stream".to_owned()),
        cache_control: upload.cache_control.clone(),
        robots_tag: None,
    };
    let object = NewObject {
        target: upload.target.clone(),
        owner: commit_as.owner(),
        metadata: declared.metadata(&info),
        user_metadata: upload.user_metadata.clone(),
        upsert: commit_as.upsert,
        blob,
    };
    commit_object(uploads.service.clone(), object).await?;
    Ok(())
}

/// Makes one blob of all pieces. It exists already when a crash came between joining and committing.
async fn join_pieces(uploads: &UploadTable, upload: &ResumableUpload) -> Result<BlobStat, StorageError> {
    let backend = uploads.service.storage().backend();
    match backend.stat(upload.version).await {
        Ok(stat) => return Ok(stat),
        Err(BackendError::Missing) => {}
        Err(error) => return Err(error.into()),
    }
    let pieces: Vec<_> = uploads
        .pieces(upload.version)
        .await?
        .into_iter()
        .map(|piece| piece.blob)
        .collect();
    match pieces.as_slice() {
        [] => {
            let empty = backend.create(upload.version).await?;
            let info = empty.finish().await?;
            Ok(BlobStat {
                size_bytes: info.size_bytes,
                modified: info.modified,
            })
        }
        // Copied and not renamed: the row of the piece refers to its blob until the upload is complete, so a crash in
        // between loses nothing.
        [only] => {
            backend.copy(*only, upload.version).await?;
            Ok(backend.stat(upload.version).await?)
        }
        several => Ok(backend.concat(several, upload.version).await?),
    }
}

/// Whether a later attempt may succeed.
fn is_transient(error: &StorageError) -> bool {
    matches!(
        error,
        StorageError::DatabaseTimeout
            | StorageError::LockTimeout
            | StorageError::ResourceLocked
            | StorageError::TooManyConnections
            | StorageError::DatabaseReadOnly
            | StorageError::DatabaseUnavailable(_)
            | StorageError::ConnectionLost(_)
            | StorageError::DatabaseTransactionAborted
            | StorageError::StoreUnavailable(_)
            | StorageError::StoreSlowDown(_)
            // The cause of an internal error is unknown. Keeping the bytes is the safe choice, because removing them
            // cannot be undone.
            | StorageError::Internal(_)
    )
}
