//! Where the bytes of objects live. A backend knows versions and bytes; it knows no buckets, keys, rows or callers.
//!
//! A blob is written once under a fresh [`Version`], becomes visible as a whole, and never changes. Everything that
//! makes replacement safe follows from that: write the new blob, commit the row, remove the old blob.
//!
//! Uploads in pieces (S3 parts, resumable chunks) need nothing special: each piece is a blob of its own, durable as soon
//! as it is finished, named by a row that says where it belongs; [`Backend::concat`] makes the object of them, and then
//! they are removed like any blob that lost its row.

mod claim;
mod file;
mod s3;

use std::path::Path;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::LocalBoxStream;
use md5::{Digest, Md5};

pub use file::FileBackend;
pub use s3::{S3Backend, S3BackendConfig};

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
    /// The remote store cannot be reached, or fails: later it may do what was asked.
    #[error("the store cannot be used at the moment: {0}")]
    Unavailable(String),
    /// The remote store wants fewer requests.
    #[error("the store wants fewer requests: {0}")]
    SlowDown(String),
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

    /// Makes `to` a blob with the bytes of `parts`, one after the other; they may have any size, and they stay.
    ///
    /// # Errors
    /// [`BackendError::Missing`] when a part is not there; then there is no blob `to` either.
    async fn concat(&self, parts: &[Version], to: Version) -> BackendResult<BlobStat>;

    /// Size and age of a blob.
    ///
    /// # Errors
    /// [`BackendError::Missing`] when there is none.
    async fn stat(&self, version: Version) -> BackendResult<BlobStat>;

    /// At most `limit` blobs with versions behind `after`, in the order of their versions; none means the end.
    /// What is being written is not among them.
    async fn list(&self, after: Option<Version>, limit: usize) -> BackendResult<Vec<BlobEntry>>;

    /// Makes a local file a blob. It is durable after the next [`Backend::settle`], so that many cost one wait.
    async fn import(&self, version: Version, file: &Path) -> BackendResult<BlobInfo>;

    /// Makes everything durable that was imported so far.
    async fn settle(&self) -> BackendResult<()>;

    /// How long a blob that lost its row must stay for readers that have just looked the row up.
    fn removal_delay(&self) -> Duration {
        Duration::ZERO
    }

    /// Removes what writers of dead processes left behind and no version names; returns how many there were.
    async fn sweep_unfinished(&self, older_than: Duration) -> BackendResult<u64>;
}

/// What a store knows of a blob without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobStat {
    /// Size in bytes.
    pub size_bytes: u64,
    /// When the blob was completed.
    pub modified: SystemTime,
}

/// One blob of [`Backend::list`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobEntry {
    /// Its name.
    pub version: Version,
    /// Size and age.
    pub stat: BlobStat,
}

/// The entity tag, with its quotes, of a blob that was concatenated from parts with these tags: S3's form, the MD5 of
/// the parts' MD5s and their number.
pub fn joined_etag<'a>(etags: impl IntoIterator<Item = &'a str>) -> String {
    let (mut digest, mut parts) = (Md5::new(), 0);
    for etag in etags {
        let bare = etag.trim_matches('"');
        // Ours are always MD5s; whatever else there is still gives a tag that depends on it.
        digest.update(hex::decode(bare).unwrap_or_else(|_| bare.as_bytes().to_vec()));
        parts += 1;
    }
    format!("\"{}-{parts}\"", hex::encode(digest.finalize()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_tags_are_those_of_s3() {
        // What S3 answers for the parts "a" and "b".
        let parts = [
            "\"0cc175b9c0f1b6a831c399e269772661\"",
            "92eb5ffee6ae2fec3ad71c777531578f",
        ];
        assert_eq!(joined_etag(parts), "\"96e024ba2074fe77e8e965ba43a704be-2\"");
    }
}
