//! The interface of blob stores: [`Backend`], its readers and writers, and what is known of a blob.

use std::path::Path;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::LocalBoxStream;
use md5::{Digest, Md5};
use selvedge_postgres::DiskState;

use super::version::Version;

/// Result of backend calls.
pub type BackendResult<T> = Result<T, BackendError>;

/// Why a blob could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// There is no blob of this version.
    #[error("the blob does not exist")]
    Missing,
    /// The file system or the remote store failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The remote store cannot be reached or fails; a later attempt may succeed.
    #[error("the store cannot be used at the moment: {0}")]
    Unavailable(String),
    /// The remote store throttles us.
    #[error("the store wants fewer requests: {0}")]
    SlowDown(String),
}

/// A blob that was just written.
#[derive(Debug, Clone)]
pub struct BlobInfo {
    /// Size in bytes.
    pub size_bytes: u64,
    /// Entity tag with its quotes: MD5 of the content in hex for the file backend.
    pub etag: String,
    /// Time at which the blob was completed.
    pub modified: SystemTime,
}

/// A store of immutable blobs.
#[async_trait(?Send)]
pub trait Backend: Send + Sync {
    /// Begins a blob. It is not visible before [`BlobWriter::finish`].
    async fn create(&self, version: Version) -> BackendResult<Box<dyn BlobWriter>>;

    /// Opens a blob for reading.
    ///
    /// # Errors
    /// [`BackendError::Missing`] when there is none.
    async fn open(&self, version: Version) -> BackendResult<Box<dyn BlobReader>>;

    /// Copies the blob `from` to `to`, without moving its bytes through this process where the store can do that. What is written to `disk` is
    /// given up when that becomes full.
    async fn copy(&self, from: Version, to: Version, disk: &DiskState) -> BackendResult<()>;

    /// Removes a blob. Removing one that does not exist succeeds.
    async fn remove(&self, version: Version) -> BackendResult<()>;

    /// Makes the blob `to` of the bytes of `parts`, in order. Parts may have any size, and stay. What is written to `disk` is given up when that
    /// becomes full.
    ///
    /// # Errors
    /// [`BackendError::Missing`] when a part does not exist; then `to` does not exist either.
    async fn concat(&self, parts: &[Version], to: Version, disk: &DiskState) -> BackendResult<BlobStat>;

    /// Size and date of a blob.
    ///
    /// # Errors
    /// [`BackendError::Missing`] when there is none.
    async fn stat(&self, version: Version) -> BackendResult<BlobStat>;

    /// At most `limit` blobs with versions greater than `after`, ordered by version; an empty list is the end.
    /// Unfinished blobs are not listed.
    async fn list(&self, after: Option<Version>, limit: usize) -> BackendResult<Vec<BlobEntry>>;

    /// Copies a local file to a blob, which is durable after the next [`Backend::sync_imported`]: many imports then
    /// cost one sync.
    async fn import(&self, version: Version, file: &Path) -> BackendResult<BlobInfo>;

    /// Makes all imported blobs durable.
    async fn sync_imported(&self) -> BackendResult<()>;

    /// How long a blob must stay after its row was deleted, for readers that have just looked the row up.
    fn removal_delay(&self) -> Duration {
        Duration::ZERO
    }

    /// The names of databases other than `owner` that have their objects in this place.
    async fn list_other_owners(&self, owner: &str) -> BackendResult<Vec<String>>;

    /// Whether a copy of the database may have its objects in this place as well, so that a mark tells which of both they belong to.
    fn has_marks(&self) -> bool;

    /// The text of the mark `owner`; `None` without one.
    async fn read_mark(&self, owner: &str) -> BackendResult<Option<String>>;

    /// Writes the mark `owner`, which shows that this database has objects here.
    async fn write_mark(&self, owner: &str, text: &str) -> BackendResult<()>;

    /// When the mark `owner` was written, by the clock that dates blobs.
    ///
    /// # Errors
    /// [`BackendError::Missing`] when there is none.
    async fn date_mark(&self, owner: &str) -> BackendResult<SystemTime>;

    /// Removes all marks but that of `owner`; returns their names.
    async fn remove_other_marks(&self, owner: &str) -> BackendResult<Vec<String>>;

    /// Moves a blob to the trash, where no request finds it. One that does not exist counts as moved.
    async fn trash(&self, version: Version) -> BackendResult<()>;

    /// Moves a blob back from the trash; false when it is not there.
    async fn recover(&self, version: Version) -> BackendResult<bool>;

    /// Removes what is in the trash for longer than `older_than`; returns how many blobs that were.
    async fn empty_trash(&self, older_than: Duration) -> BackendResult<u64>;

    /// Removes unfinished writes of processes that have ended; returns how many there were.
    async fn sweep_unfinished(&self, older_than: Duration) -> BackendResult<u64>;
}

/// Size and date of a blob.
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
    /// Its version, which is its name.
    pub version: Version,
    /// Its size and date.
    pub stat: BlobStat,
}

/// The entity tag, with its quotes, of an object made of parts with these tags. As in S3 it is the MD5 of the parts'
/// MD5s, followed by their number.
pub fn joined_etag<'a>(etags: impl IntoIterator<Item = &'a str>) -> String {
    let (mut digest, mut parts) = (Md5::new(), 0);
    for etag in etags {
        let bare = etag.trim_matches('"');
        // Our own tags are MD5s. Another form of tag is hashed as text, so that the result still depends on it.
        digest.update(hex::decode(bare).unwrap_or_else(|_| bare.as_bytes().to_vec()));
        parts += 1;
    }
    format!("\"{}-{parts}\"", hex::encode(digest.finalize()))
}

/// A blob that is being written. When dropped unfinished, its bytes are removed.
#[async_trait(?Send)]
pub trait BlobWriter {
    /// Appends bytes. Returns once they are handed to the store, so that a slow store slows down the sender.
    async fn write(&mut self, bytes: Bytes) -> BackendResult<()>;

    /// Makes the blob durable and visible.
    async fn finish(self: Box<Self>) -> BackendResult<BlobInfo>;
}

/// An open blob. It stays readable when the blob is removed.
pub trait BlobReader {
    /// Size in bytes.
    fn size_bytes(&self) -> u64;

    /// Streams `length` bytes from `offset`, which must lie inside the blob.
    fn read(self: Box<Self>, offset: u64, length: u64) -> BlobBody;
}

/// Bytes that were read from a blob.
pub enum BlobBody {
    /// A small blob, already in memory.
    Whole(Bytes),
    /// A large blob, read piece by piece as the client takes them.
    Stream(LocalBoxStream<'static, std::io::Result<Bytes>>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_095_entity_tags_of_multipart_objects_are_those_of_s3() {
        // The ETag that S3 computes for the parts "a" and "b".
        let parts = [
            "\"0cc175b9c0f1b6a831c399e269772661\"",
            "92eb5ffee6ae2fec3ad71c777531578f",
        ];
        assert_eq!(joined_etag(parts), "\"96e024ba2074fe77e8e965ba43a704be-2\"");
    }
}
