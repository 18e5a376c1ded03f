//! Blobs as objects of one bucket of an S3-compatible store.
//!
//! `{prefix}blobs/{version}` is a blob. Bytes that are being written wait in a local spool folder until a part is full:
//! so memory stays constant for any size, and a failed part can be sent again. Several nodes can share one bucket.

mod concat;
mod config;
mod lasting_client;
mod list;
mod multipart_write;
mod reader;
mod store;
mod writer;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use self::store::{COPY_MAX_BYTES, Store, map_sdk_error};
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

    async fn copy(&self, from: Version, to: Version) -> BackendResult<()> {
        let store = &self.store;
        let stat = store.stat(from).await?;
        if stat.size_bytes > COPY_MAX_BYTES {
            store.concat(&[from], to).await?;
            return Ok(());
        }
        let copy = store
            .client
            .copy_object()
            .bucket(&store.bucket)
            .copy_source(store.copy_source(from))
            .key(store.key(to));
        copy.send().await.map_err(map_sdk_error)?;
        Ok(())
    }

    async fn remove(&self, version: Version) -> BackendResult<()> {
        self.store.remove(version).await
    }

    async fn concat(&self, parts: &[Version], to: Version) -> BackendResult<BlobStat> {
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

    async fn claim(&self, owner: &str) -> BackendResult<Vec<String>> {
        self.store.claim(owner).await
    }

    fn removal_delay(&self) -> Duration {
        self.store.removal_delay
    }

    async fn sweep_unfinished(&self, older_than: Duration) -> BackendResult<u64> {
        let spooled = self.store.spool.remove_abandoned()?;
        Ok(spooled + self.store.abort_uploads(older_than).await?)
    }
}
