//! A blob between the moment its bytes are complete and the moment a row refers to it.

use std::sync::Arc;

use crate::backend::Version;
use crate::database::object_row::ObjectRow;
use crate::database::session::DbSession;
use crate::error::StorageError;
use crate::state::Storage;

/// A blob that no row refers to yet. Dropped before [`PendingBlob::keep`], it is removed.
pub(crate) struct PendingBlob {
    storage: Arc<Storage>,
    version: Version,
    kept: bool,
}

impl PendingBlob {
    /// A blob that is removed unless it is kept.
    pub(crate) fn new(storage: &Arc<Storage>, version: Version) -> Self {
        Self {
            storage: Arc::clone(storage),
            version,
            kept: false,
        }
    }

    /// A blob that stays when this value is dropped without a row: the caller removes it or tries to commit it again.
    pub(crate) fn retained(storage: &Arc<Storage>, version: Version) -> Self {
        Self {
            storage: Arc::clone(storage),
            version,
            kept: true,
        }
    }

    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// Keeps the blob: a row refers to it now.
    pub(crate) fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for PendingBlob {
    fn drop(&mut self) {
        if !self.kept {
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
    storage.backend().copy(from, blob.version()).await?;
    Ok(blob)
}
