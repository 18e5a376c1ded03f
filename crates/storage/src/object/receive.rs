//! Streams the bytes of an upload into a new blob, in constant memory, up to a limit.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};

use super::pending_blob::PendingBlob;
use crate::backend::{BackendError, BlobInfo, Version};
use crate::error::StorageError;
use crate::state::Storage;

/// Writes all of `source` into a blob that no row refers to yet.
///
/// # Errors
/// `EntityTooLarge` as soon as more than `limit_bytes` have arrived, `Aborted` when nothing arrives for
/// `upload_idle_timeout`, the error of the source, `StorageFull`. The unfinished blob is removed then.
pub(crate) async fn receive_blob<E: From<StorageError>>(
    storage: &Arc<Storage>,
    limit_bytes: u64,
    mut source: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<(PendingBlob, BlobInfo), E> {
    let map_error = |error: BackendError| E::from(error.into());
    let version = Version::fresh();
    let mut writer = storage.create_blob(version).await.map_err(map_error)?;
    let mut received: u64 = 0;
    let idle_timeout = storage.config().upload_idle_timeout;
    loop {
        // Each chunk renews the time limit, so that slow uploads finish; a silent connection would hold its file
        // forever.
        let Ok(chunk) = tokio::time::timeout(idle_timeout, source.next()).await else {
            return Err(StorageError::Aborted.into());
        };
        let Some(chunk) = chunk.transpose()? else {
            break;
        };
        received += chunk.len() as u64;
        if received > limit_bytes {
            return Err(StorageError::EntityTooLarge.into());
        }
        writer.write(chunk).await.map_err(map_error)?;
    }
    // Made before `finish`, which may fail after the blob became visible: then dropping this value removes the blob.
    let blob = PendingBlob::new(storage, version);
    let info = writer.finish().await.map_err(map_error)?;
    Ok((blob, info))
}
