//! Where the bytes of objects live. A backend knows versions and bytes; it knows no buckets, keys, rows or callers.
//!
//! A blob is written once under a fresh [`Version`], becomes visible as a whole, and never changes. Everything that
//! makes replacement safe follows from that: write the new blob, commit the row, remove the old blob.

mod file;

use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::LocalBoxStream;

pub use file::FileBackend;

pub use crate::version::Version;

/// Result of backend calls.
pub type BackendResult<T> = Result<T, BackendError>;

/// Why the bytes could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// There is no blob of this version.
    #[error("the blob does not exist")]
    Missing,
    /// The file system or the remote store failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// What is known of a blob after it was written.
#[derive(Debug, Clone)]
pub struct BlobInfo {
    /// Size in bytes.
    pub size_bytes: u64,
    /// Entity tag with its quotes: MD5 of the content in hex for the file backend.
    pub etag: String,
    /// When the blob was completed.
    pub modified: SystemTime,
}

/// A store of immutable blobs.
#[async_trait(?Send)]
pub trait Backend: Send + Sync {
    /// Begins a blob. Nothing is visible until [`BlobWriter::finish`].
    async fn create(&self, version: Version) -> BackendResult<Box<dyn BlobWriter>>;

    /// Opens a blob for reading.
    ///
    /// # Errors
    /// [`BackendError::Missing`] when there is none.
    async fn open(&self, version: Version) -> BackendResult<Box<dyn BlobReader>>;

    /// Makes `to` a blob with the bytes of `from`, without moving them through this process where possible.
    async fn copy(&self, from: Version, to: Version) -> BackendResult<()>;

    /// Removes a blob; one that does not exist counts as removed.
    async fn remove(&self, version: Version) -> BackendResult<()>;
}

/// A blob that is being written. Dropping it leaves nothing behind.
#[async_trait(?Send)]
pub trait BlobWriter {
    /// Appends bytes; returns when they are handed over, so that a slow disk slows the sender.
    async fn write(&mut self, bytes: Bytes) -> BackendResult<()>;

    /// Makes the blob durable and visible.
    async fn finish(self: Box<Self>) -> BackendResult<BlobInfo>;
}

/// An open blob. It stays readable when the blob is removed meanwhile.
pub trait BlobReader {
    /// Size in bytes.
    fn size_bytes(&self) -> u64;

    /// Streams `length` bytes from `offset`, which must lie inside the blob.
    fn read(self: Box<Self>, offset: u64, length: u64) -> BlobBody;
}

/// Bytes of a blob on their way out.
pub enum BlobBody {
    /// Small: already in memory.
    Whole(Bytes),
    /// Large: read piece by piece as the client takes them.
    Stream(LocalBoxStream<'static, std::io::Result<Bytes>>),
}
