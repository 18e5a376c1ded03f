//! Blobs as objects of one bucket of an S3-compatible store.
//!
//! `{prefix}blobs/{version}` is a blob, `{prefix}trash/{version}` one that a sweep has taken out, `{prefix}owners/` has the marks of databases. Bytes that are being written wait in a local spool folder until a part is full:
//! so memory stays constant for any size, and a failed part can be sent again. Several nodes can share one bucket.

mod concat;
mod config;
mod lasting_client;
mod list;
mod marks;
mod multipart_write;
mod reader;
mod store;
mod trash;
mod writer;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use selvedge_postgres::DiskState;

use self::store::Store;
use self::writer::S3Writer;
use super::{Backend, BackendResult, BlobEntry, BlobInfo, BlobReader, BlobStat, BlobWriter, Version};

pub use config::S3BackendConfig;

/// The S3 backend. Cheap to clone.
#[derive(Debug, Clone)]
pub struct S3Backend {
    store: Arc<Store>,
}

impl S3Backend {
    /// Makes a client; no request is sent to the store yet.
    ///
    /// # Errors
    /// When the spool folder cannot be created.
    pub fn open(config: S3BackendConfig) -> io::Result<Self> {
        Ok(Self {
            store: Arc::new(Store::open(config)?),
        })
    }
}

#[async_trait(?Send)]
impl Backend for S3Backend {
    async fn create(&self, version: Version) -> BackendResult<Box<dyn BlobWriter>> {
        Ok(Box::new(S3Writer::new(Arc::clone(&self.store), version)))
    }

    async fn open(&self, version: Version) -> BackendResult<Box<dyn BlobReader>> {
        Ok(Box::new(
            reader::open_blob(Arc::clone(&self.store), version).await?,
        ))
    }

    async fn copy(&self, from: Version, to: Version, _disk: &DiskState) -> BackendResult<()> {
        let store = &self.store;
        store.copy_object(&store.key(from), &store.key(to)).await
    }

    async fn remove(&self, version: Version) -> BackendResult<()> {
        self.store.remove(version).await
    }

    async fn concat(&self, parts: &[Version], to: Version, _disk: &DiskState) -> BackendResult<BlobStat> {
        self.store.concat(parts, to).await
    }

    async fn stat(&self, version: Version) -> BackendResult<BlobStat> {
        self.store.stat(version).await
    }

    async fn list(&self, after: Option<Version>, limit: usize) -> BackendResult<Vec<BlobEntry>> {
        self.store.list(after, limit).await
    }

    async fn import(&self, version: Version, file: &Path) -> BackendResult<BlobInfo> {
        let mut writer = Box::new(S3Writer::new(Arc::clone(&self.store), version));
        let mut file = tokio::fs::File::open(file).await?;
        loop {
            let mut buffer = vec![0; 256 * 1024];
            let read = tokio::io::AsyncReadExt::read(&mut file, &mut buffer).await?;
            if read == 0 {
                return writer.finish().await;
            }
            buffer.truncate(read);
            writer.write(Bytes::from(buffer)).await?;
        }
    }

    async fn sync_imported(&self) -> BackendResult<()> {
        // The store responds to a write only once its bytes are durable.
        Ok(())
    }

    async fn list_other_owners(&self, owner: &str) -> BackendResult<Vec<String>> {
        self.store.list_other_marks(owner).await
    }

    fn has_marks(&self) -> bool {
        true
    }

    async fn read_mark(&self, owner: &str) -> BackendResult<Option<String>> {
        self.store.read_mark(owner).await
    }

    async fn write_mark(&self, owner: &str, text: &str) -> BackendResult<()> {
        self.store.write_mark(owner, text).await
    }

    async fn date_mark(&self, owner: &str) -> BackendResult<SystemTime> {
        self.store.date_mark(owner).await
    }

    async fn remove_other_marks(&self, owner: &str) -> BackendResult<Vec<String>> {
        self.store.remove_other_marks(owner).await
    }

    async fn trash(&self, version: Version) -> BackendResult<()> {
        self.store.trash(version).await
    }

    async fn recover(&self, version: Version) -> BackendResult<bool> {
        self.store.recover(version).await
    }

    async fn empty_trash(&self, older_than: Duration) -> BackendResult<u64> {
        self.store.empty_trash(older_than).await
    }

    fn removal_delay(&self) -> Duration {
        self.store.removal_delay
    }

    async fn sweep_unfinished(&self, older_than: Duration) -> BackendResult<u64> {
        let spooled = self.store.spool.remove_abandoned()?;
        Ok(spooled + self.store.abort_uploads(older_than).await?)
    }
}
