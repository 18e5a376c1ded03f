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
pub(crate) async fn receive(
    storage: &Arc<Storage>,
    limit_bytes: u64,
    mut source: impl Stream<Item = Result<Bytes, StorageError>> + Unpin,
) -> Result<(PendingBlob, BlobInfo), StorageError> {
    let version = Version::fresh();
    let mut writer = storage.backend().create(version).await?;
    let mut received: u64 = 0;
    while let Some(chunk) = source.next().await {
        let chunk = chunk?;
        received += chunk.len() as u64;
        if received > limit_bytes {
            return Err(StorageError::EntityTooLarge);
        }
        writer.write(chunk).await?;
    }
    let blob = PendingBlob::new(storage, version);
    let info = writer.finish().await?;
    Ok((blob, info))
}

impl From<BackendError> for StorageError {
    fn from(error: BackendError) -> Self {
        match error {
            BackendError::Missing => Self::BlobMissing,
            BackendError::Io(error) => error.into(),
        }
    }
}
