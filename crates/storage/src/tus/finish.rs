//! Finishes a full upload: the pieces become one blob, the blob becomes an object.
//!
//! Several requests may try it at the same time, because a client whose connection broke asks again, perhaps at another node.
//! So every attempt joins the pieces into a blob of its own, and the transaction that makes the object also marks the upload
//! as completed. Of all attempts one does that, and the others find the upload completed. A crash leaves a blob without a row,
//! which a sweep removes, and the next request tries again.

use deadpool_postgres::Transaction;
use md5::Digest;

use super::digest::restore_md5;
use super::error::TusError;
use super::headers::UploadMetadata;
use super::request::UploadDescription;
use super::upload_id::UploadId;
use super::upload_table::{ResumableUpload, UploadTable, complete_upload};
use crate::backend::{BlobInfo, BlobStat, Version};
use crate::database::object_row::Declared;
use crate::database::session::DbSession;
use crate::error::StorageError;
use crate::object::authorize_write::AskedWrite;
use crate::object::commit::{CommitChecks, NewObject, commit_object_after};
use crate::object::pending_blob::PendingBlob;

/// Creates the object of a full upload, unless another request has done so.
///
/// The policies are asked about `caller`; `None` stands for an upload token, which has the answer. After a transient error (a lock, a
/// time-out) and without the right, which may be given again, the upload stays and can be finished later; any other error removes
/// it.
///
/// # Errors
/// `KeyAlreadyExists` and other errors of the database; `NotFound` when the upload or its pieces were removed.
pub(super) async fn finish_upload(
    uploads: &UploadTable,
    caller: Option<&DbSession>,
    mut upload: ResumableUpload,
) -> Result<ResumableUpload, TusError> {
    if upload.completed {
        return Ok(upload);
    }
    let error = match commit_upload(uploads, caller, &upload).await {
        Ok(true) => {
            upload.completed = true;
            return Ok(upload);
        }
        Ok(false) => TusError::NotFound,
        Err(error) if is_transient(&error) => return Err(error.into()),
        Err(error) => {
            uploads.remove_unfinished(&upload).await?;
            match error {
                StorageError::BlobMissing => TusError::NotFound,
                other => other.into(),
            }
        }
    };
    // Another request may have made the object and removed the pieces, which is a success for this one, too.
    let id = UploadId {
        target: upload.target.clone(),
        version: upload.version,
    };
    match uploads.find(&id).await? {
        Some(now) if now.completed => Ok(now),
        _ => Err(error),
    }
}

/// Makes the object. False when another request has completed or removed the upload meanwhile.
async fn commit_upload(
    uploads: &UploadTable,
    caller: Option<&DbSession>,
    upload: &ResumableUpload,
) -> Result<bool, StorageError> {
    let commit_as = upload
        .commit_as
        .as_ref()
        .ok_or_else(|| StorageError::internal("a full upload without an owner to commit it as"))?;
    let storage = uploads.service.storage();
    let blob = PendingBlob::new(storage, Version::fresh());
    let stat = join_pieces(uploads, upload, blob.version()).await?;
    let info = BlobInfo {
        size_bytes: stat.size_bytes,
        etag: format!("\"{}\"", hex::encode(restore_md5(&upload.digest).finalize())),
        modified: stat.modified,
    };
    let declared = declare(upload);
    let owner = commit_as.owner();
    let intent = UploadDescription::from_upload(upload).intent(&upload.target, &owner, commit_as.upsert);
    let checks = CommitChecks {
        asked: caller.map(|caller| AskedWrite::new(caller, &intent)),
        zero_is_unlimited: true,
    };
    let object = NewObject {
        checks: Some(checks),
        target: upload.target.clone(),
        owner: commit_as.owner(),
        metadata: declared.metadata(&info),
        user_metadata: upload.user_metadata.clone(),
        upsert: commit_as.upsert,
        blob,
    };
    let version = upload.version;
    let complete = async move |transaction: &Transaction<'_>| complete_upload(transaction, version).await;
    let Some(pieces) = commit_object_after(uploads.service.clone(), object, complete).await? else {
        return Ok(false);
    };
    for piece in pieces {
        storage.discard_piece(piece);
    }
    Ok(true)
}

fn declare(upload: &ResumableUpload) -> Declared {
    let metadata = UploadMetadata::parse(&upload.upload_metadata);
    Declared {
        mime_type: upload
            .content_type
            .clone()
            .unwrap_or_else(|| "application/octet-stream".to_owned()),
        cache_control: upload.cache_control.clone(),
        content_encoding: metadata.and_then(|metadata| metadata.content_encoding().ok().flatten()),
        // TUS has no header for it.
        robots_tag: None,
    }
}

/// Makes one blob of all pieces.
///
/// # Errors
/// `BlobMissing` when another request has removed pieces.
async fn join_pieces(
    uploads: &UploadTable,
    upload: &ResumableUpload,
    to: Version,
) -> Result<BlobStat, StorageError> {
    let storage = uploads.service.storage();
    let (backend, disk) = (storage.backend(), storage.disk());
    let pieces = uploads.pieces(upload.version).await?;
    if pieces.iter().map(|piece| piece.size).sum::<u64>() != upload.received {
        return Err(StorageError::BlobMissing);
    }
    let pieces: Vec<_> = pieces.into_iter().map(|piece| piece.blob).collect();
    match pieces.as_slice() {
        [] => {
            let info = backend.create(to).await?.finish().await?;
            Ok(BlobStat {
                size_bytes: info.size_bytes,
                modified: info.modified,
            })
        }
        // Copied and not renamed: the row of the piece refers to its blob until the upload is complete, so a crash in
        // between loses nothing.
        [only] => {
            backend.copy(*only, to, disk).await?;
            Ok(backend.stat(to).await?)
        }
        several => Ok(backend.concat(several, to, disk).await?),
    }
}

/// Whether a later attempt may succeed.
fn is_transient(error: &StorageError) -> bool {
    matches!(
        error,
        StorageError::AccessDenied(_)
            | StorageError::DatabaseTimeout
            | StorageError::LockTimeout
            | StorageError::Deadlock
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
