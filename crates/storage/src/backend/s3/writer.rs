//! Writes a blob to S3: a small one with one request from memory, a large one as a multipart upload from the spool
//! folder.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use aws_sdk_s3::primitives::ByteStream;
use bytes::Bytes;
use md5::{Digest, Md5};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::multipart_write::MultipartWrite;
use super::store::{Store, map_sdk_error};
use crate::backend::{BackendResult, BlobInfo, BlobWriter, Version};

/// Bytes that are gathered in memory before they are written to the spool folder.
const GATHER_BYTES: usize = 256 * 1024;
/// Size of the first parts in bytes. It doubles every thousand parts, so that the 10 000 parts that S3 allows suffice
/// for its largest object.
const PART_BYTES: u64 = 16 * 1024 * 1024;

/// A blob that is being written to S3.
pub(super) struct S3Writer {
    store: Arc<Store>,
    version: Version,
    gathered: Vec<Bytes>,
    gathered_bytes: usize,
    /// Digest and current part; `None` while the blocking pool has them, and after a failed write.
    progress: Option<WriteProgress>,
    upload: MultipartWrite,
}

/// Digest over all bytes, and the part that is being filled.
struct WriteProgress {
    digest: Md5,
    size_bytes: u64,
    part: Option<SpooledPart>,
}

/// A file in the spool folder; removed when dropped.
struct SpooledPart {
    path: PathBuf,
    file: File,
    size_bytes: u64,
}

impl SpooledPart {
    fn create(folder: &Path) -> io::Result<Self> {
        let path = folder.join(Uuid::new_v4().to_string());
        let file = File::options().write(true).create_new(true).open(&path)?;
        Ok(Self {
            path,
            file,
            size_bytes: 0,
        })
    }
}

impl Drop for SpooledPart {
    fn drop(&mut self) {
        // If removing fails, the file is removed with the folder of this process.
        let _ = fs::remove_file(&self.path);
    }
}

impl S3Writer {
    pub(super) fn new(store: Arc<Store>, version: Version) -> Self {
        Self {
            upload: MultipartWrite::new(Arc::clone(&store), store.key(version)),
            store,
            version,
            gathered: Vec::new(),
            gathered_bytes: 0,
            progress: Some(WriteProgress {
                digest: Md5::new(),
                size_bytes: 0,
                part: None,
            }),
        }
    }

    /// Writes the gathered bytes to the spool folder, and uploads a full part.
    async fn flush(&mut self) -> BackendResult<()> {
        let chunks = std::mem::take(&mut self.gathered);
        self.gathered_bytes = 0;
        let (mut progress, store) = (self.take_progress()?, Arc::clone(&self.store));
        let spooled = spawn_blocking(move || {
            let part = match &mut progress.part {
                Some(part) => part,
                none => none.insert(SpooledPart::create(store.spool.path())?),
            };
            for chunk in &chunks {
                part.file.write_all(chunk)?;
                part.size_bytes += chunk.len() as u64;
                progress.digest.update(chunk);
                progress.size_bytes += chunk.len() as u64;
            }
            io::Result::Ok(progress)
        });
        let mut progress = spooled.await.map_err(io::Error::other)??;
        // The shift doubles the size of parts after every thousand of them.
        let full = PART_BYTES << (self.upload.part_count() / 1000);
        let is_full = progress.part.as_ref().is_some_and(|part| part.size_bytes >= full);
        if let Some(part) = progress.part.take_if(|_| is_full) {
            self.send_part(part).await?;
        }
        self.progress = Some(progress);
        Ok(())
    }

    async fn send_part(&mut self, part: SpooledPart) -> BackendResult<()> {
        let body = ByteStream::from_path(&part.path)
            .await
            .map_err(io::Error::other)?;
        self.upload.send_part(body, part.size_bytes).await
    }

    /// Uploads the whole blob with one request.
    async fn put_blob(&self, body: ByteStream, size_bytes: u64) -> BackendResult<()> {
        let put = self
            .store
            .client
            .put_object()
            .bucket(&self.store.bucket)
            .key(self.store.key(self.version))
            .content_length(i64::try_from(size_bytes).unwrap_or(i64::MAX))
            .body(body);
        put.send().await.map_err(map_sdk_error)?;
        Ok(())
    }

    fn take_progress(&mut self) -> io::Result<WriteProgress> {
        self.progress
            .take()
            .ok_or_else(|| io::Error::other("an earlier write failed"))
    }
}

#[async_trait(?Send)]
impl BlobWriter for S3Writer {
    async fn write(&mut self, bytes: Bytes) -> BackendResult<()> {
        self.gathered_bytes += bytes.len();
        self.gathered.push(bytes);
        if self.gathered_bytes >= GATHER_BYTES {
            self.flush().await
        } else {
            Ok(())
        }
    }

    async fn finish(mut self: Box<Self>) -> BackendResult<BlobInfo> {
        // `progress` is `None` after a failed write; `take_progress` then returns the error.
        let has_spooled = self
            .progress
            .as_ref()
            .is_none_or(|progress| progress.part.is_some());
        // A part that was begun in the spool folder has to be completed there, because a part is sent from one source.
        if has_spooled && self.gathered_bytes > 0 {
            self.flush().await?;
        }
        let mut progress = self.take_progress()?;
        if self.gathered_bytes > 0 || (progress.part.is_none() && !self.upload.has_begun()) {
            // The last bytes, or a whole small blob, are still in memory.
            let tail = self.gathered.concat();
            progress.digest.update(&tail);
            progress.size_bytes += tail.len() as u64;
            let length = tail.len() as u64;
            if self.upload.has_begun() {
                self.upload.send_part(ByteStream::from(tail), length).await?;
            } else {
                self.put_blob(ByteStream::from(tail), length).await?;
            }
        } else if let Some(part) = progress.part.take() {
            if self.upload.has_begun() {
                self.send_part(part).await?;
            } else {
                let body = ByteStream::from_path(&part.path)
                    .await
                    .map_err(io::Error::other)?;
                self.put_blob(body, part.size_bytes).await?;
            }
        }
        if self.upload.has_begun() {
            self.upload.complete().await?;
        }
        Ok(BlobInfo {
            size_bytes: progress.size_bytes,
            etag: format!("\"{}\"", hex::encode(progress.digest.finalize())),
            modified: SystemTime::now(),
        })
    }
}
