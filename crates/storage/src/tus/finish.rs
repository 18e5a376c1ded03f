//! All bytes are there: the pieces become a blob, the blob becomes an object. Can be done again after a crash at any point.

use md5::Digest;

use super::receive::digest_from;
use super::refusal::Refusal;
use super::upload::{Upload, Uploads};
use crate::backend::{BackendError, BlobInfo, BlobStat};
use crate::error::StorageError;
use crate::object::commit::{self, NewObject, PendingBlob};
use crate::object_row::Declared;

/// Makes the object of a full upload, unless it exists already.
///
/// A refusal that stays one ends the upload; after a passing one (a lock, a time-out) it can be finished later.
///
/// # Errors
/// `KeyAlreadyExists` and what else the database says; `NotFound` when the bytes are gone.
pub(super) async fn finish(uploads: &Uploads, mut upload: Upload) -> Result<Upload, Refusal> {
    if !uploads.is_committed(&upload).await? {
        match commit(uploads, &upload).await {
            Ok(()) => {}
            Err(error) if is_passing(&error) => return Err(error.into()),
            Err(error) => {
                uploads.remove(&upload).await?;
                return Err(match error {
                    StorageError::BlobMissing => Refusal::NotFound,
                    other => other.into(),
                });
            }
        }
    }
    uploads.complete(upload.version).await?;
    upload.completed = true;
    Ok(upload)
}

async fn commit(uploads: &Uploads, upload: &Upload) -> Result<(), StorageError> {
    let finishing = upload
        .finishing
        .as_ref()
        .ok_or_else(|| StorageError::internal("a full upload that nobody finished"))?;
    let storage = uploads.service.worker().storage();
    let stat = join(uploads, upload).await?;
    // It stays when the database refuses: whether to try again is decided by the caller.
    let blob = PendingBlob::lasting(storage, upload.version);
    let info = BlobInfo {
        size_bytes: stat.size_bytes,
        etag: format!("\"{}\"", hex::encode(digest_from(&upload.digest).finalize())),
        modified: stat.modified,
    };
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
        owner: finishing.owner(),
        metadata: declared.metadata(&info),
        user_metadata: upload.user_metadata.clone(),
        upsert: finishing.upsert,
        blob,
    };
    commit::commit(uploads.service.clone(), object).await?;
    Ok(())
}

/// One blob with the bytes of all pieces; found to be there when a crash came between.
async fn join(uploads: &Uploads, upload: &Upload) -> Result<BlobStat, StorageError> {
    let backend = uploads.service.worker().storage().backend();
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
        [only] => {
            backend.copy(*only, upload.version).await?;
            Ok(backend.stat(upload.version).await?)
        }
        several => Ok(backend.concat(several, upload.version).await?),
    }
}

/// Whether trying again may help.
fn is_passing(error: &StorageError) -> bool {
    matches!(
        error,
        StorageError::DatabaseTimeout
            | StorageError::LockTimeout
            | StorageError::ResourceLocked
            | StorageError::TooManyConnections
            | StorageError::DatabaseReadOnly
            | StorageError::DatabaseTransactionAborted
            | StorageError::StoreUnavailable(_)
            | StorageError::StoreSlowDown(_)
            | StorageError::Internal(_)
    )
}
