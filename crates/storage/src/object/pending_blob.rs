//! A blob between the moment its bytes are complete and the moment a row refers to it.

use std::sync::Arc;

use crate::backend::Version;
use crate::database::object_row::ObjectRow;
use crate::database::session::DbSession;
use crate::error::StorageError;
use crate::state::Storage;

/// An error of a write to the database.
pub(crate) trait WriteError {
    /// Whether the write may have been committed nevertheless, because the connection was lost before the answer came.
    fn may_be_committed(&self) -> bool;
}

impl WriteError for StorageError {
    fn may_be_committed(&self) -> bool {
        matches!(self, Self::ConnectionLost(_))
    }
}

/// A blob that no row refers to yet. It is removed when this is dropped without a [`PendingBlob::commit`] that succeeded, or [`PendingBlob::keep`].
pub(crate) struct PendingBlob {
    storage: Arc<Storage>,
    version: Version,
    /// Whether a row refers to it, or may do so because the write of the row is under way.
    may_have_row: bool,
}

impl PendingBlob {
    /// A blob that is removed unless a row is committed that refers to it.
    pub(crate) fn new(storage: &Arc<Storage>, version: Version) -> Self {
        Self {
            storage: Arc::clone(storage),
            version,
            may_have_row: false,
        }
    }

    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// Runs the write that makes a row refer to the blob, and removes the blob when there is no such row: after an error,
    /// or when the write returns `None` because it changed nothing.
    ///
    /// Where the outcome is unknown the blob stays, because a row without its bytes is worse than bytes without a row,
    /// which the next sweep removes. It is unknown after a lost connection, and when this future is dropped before the
    /// write has ended.
    ///
    /// # Errors
    /// Those of the write.
    pub(crate) async fn commit<T, E: WriteError>(
        mut self,
        write: impl Future<Output = Result<Option<T>, E>>,
    ) -> Result<Option<T>, E> {
        self.may_have_row = true;
        let written = write.await;
        self.may_have_row = match &written {
            Ok(row) => row.is_some(),
            Err(error) => error.may_be_committed(),
        };
        written
    }

    /// Keeps the blob: a row refers to it now.
    pub(crate) fn keep(mut self) {
        self.may_have_row = true;
    }
}

impl Drop for PendingBlob {
    fn drop(&mut self) {
        if !self.may_have_row {
            self.storage.discard_blob(self.version);
        }
    }
}

/// Makes a second blob with the bytes of an object's blob.
///
/// # Errors
/// `BlobMissing` when the row has no bytes.
pub(crate) async fn copy_blob(service: &DbSession, source: &ObjectRow) -> Result<PendingBlob, StorageError> {
    let storage = service.storage();
    let from = source.blob_version().ok_or(StorageError::BlobMissing)?;
    let blob = PendingBlob::new(storage, Version::fresh());
    storage
        .backend()
        .copy(from, blob.version(), storage.disk())
        .await?;
    Ok(blob)
}
