//! Bytes on their way in: streamed into a fresh blob in constant memory, counted, cut off at a limit.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};

use super::commit::PendingBlob;
use crate::backend::{BackendError, BlobInfo, Version};
use crate::error::StorageError;
use crate::serve::Storage;

/// Writes all of `source` into a blob that no row refers to yet.
///
/// # Errors
/// `EntityTooLarge` as soon as more than `limit_bytes` have come; what the source says; `StorageFull`. Nothing is left
/// behind then.
pub(crate) async fn receive<E: From<StorageError>>(
    storage: &Arc<Storage>,
    limit_bytes: u64,
    mut source: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<(PendingBlob, BlobInfo), E> {
    let failed = |error: BackendError| E::from(error.into());
    let version = Version::fresh();
    let mut writer = storage.backend().create(version).await.map_err(failed)?;
    let mut received: u64 = 0;
    let patience = storage.config().upload_idle_timeout;
    loop {
        // Whoever sends a byte now and then may take all day; whoever sends none holds a file for nothing.
        let Ok(chunk) = tokio::time::timeout(patience, source.next()).await else {
            return Err(StorageError::Aborted.into());
        };
        let Some(chunk) = chunk.transpose()? else {
            break;
        };
        received += chunk.len() as u64;
        if received > limit_bytes {
            return Err(StorageError::EntityTooLarge.into());
        }
        writer.write(chunk).await.map_err(failed)?;
    }
    let blob = PendingBlob::new(storage, version);
    let info = writer.finish().await.map_err(failed)?;
    Ok((blob, info))
}

impl From<BackendError> for StorageError {
    fn from(error: BackendError) -> Self {
        match error {
            BackendError::Missing => Self::BlobMissing,
            BackendError::Io(error) => error.into(),
            BackendError::Unavailable(cause) => Self::StoreUnavailable(cause),
            BackendError::SlowDown(cause) => Self::StoreSlowDown(cause),
        }
    }
}
