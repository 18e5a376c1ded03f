//! Refuses bytes of blobs while the disk has no room for them: what is left of it is for the database.

use async_trait::async_trait;
use bytes::Bytes;
use selvedge_postgres::DiskState;

use super::room::check_room;
use super::{Backend, BackendResult, BlobInfo, BlobWriter, Version};

/// Begins a blob of an upload.
///
/// # Errors
/// While the disk is full, and as [`Backend::create`].
pub(crate) async fn create_guarded(
    backend: &dyn Backend,
    version: Version,
    disk: &DiskState,
) -> BackendResult<Box<dyn BlobWriter>> {
    check_room(disk)?;
    let inner = backend.create(version).await?;
    Ok(Box::new(GuardedWriter {
        inner,
        disk: disk.clone(),
    }))
}

/// A blob that is given up when the disk becomes full.
struct GuardedWriter {
    inner: Box<dyn BlobWriter>,
    disk: DiskState,
}

#[async_trait(?Send)]
impl BlobWriter for GuardedWriter {
    async fn write(&mut self, bytes: Bytes) -> BackendResult<()> {
        check_room(&self.disk)?;
        self.inner.write(bytes).await
    }

    async fn finish(self: Box<Self>) -> BackendResult<BlobInfo> {
        self.inner.finish().await
    }
}
