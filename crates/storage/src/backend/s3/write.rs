//! Writing to S3: a small blob is one request from memory, a large one a multipart upload from the spool folder.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{CompletedMultipartUpload, CompletedPart};
use bytes::Bytes;
use md5::{Digest, Md5};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::{Store, refused};
use crate::backend::{BackendResult, BlobInfo, BlobWriter, Version};

/// Bytes that are held in memory before they go to the spool folder.
const GATHER_BYTES: usize = 256 * 1024;
/// Size of the first parts; it doubles every thousand parts, so that ten thousand parts reach S3's largest object.
const PART_BYTES: u64 = 16 * 1024 * 1024;

/// A blob on its way to S3.
pub(super) struct S3Writer {
    store: Arc<Store>,
    version: Version,
    gathered: Vec<Bytes>,
    gathered_bytes: usize,
    /// What is known of all bytes; absent only while the blocking pool has it.
    progress: Option<Progress>,
    upload: Upload,
}

/// Digest of everything, and the part that is being filled.
struct Progress {
    digest: Md5,
    size_bytes: u64,
    part: Option<Spooled>,
}

/// A file in the spool folder; removed when dropped.
struct Spooled {
    path: PathBuf,
    file: File,
    size_bytes: u64,
}

impl Spooled {
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

impl Drop for Spooled {
    fn drop(&mut self) {
        // What stays is cleared when this process is gone.
        let _ = fs::remove_file(&self.path);
    }
}

/// A multipart upload that has begun; aborted when dropped unfinished.
pub(super) struct Upload {
    store: Arc<Store>,
    key: String,
    id: Option<String>,
    parts: Vec<CompletedPart>,
}

impl Upload {
    pub(super) fn new(store: Arc<Store>, version: Version) -> Self {
        let key = store.key(version);
        Self {
            store,
            key,
            id: None,
            parts: Vec::new(),
        }
    }

    /// The number of the next part.
    pub(super) fn next_number(&self) -> i32 {
        i32::try_from(self.parts.len()).unwrap_or(i32::MAX) + 1
    }

    /// The upload's id; begins it if need be.
    pub(super) async fn id(&mut self) -> BackendResult<String> {
        if let Some(id) = &self.id {
            return Ok(id.clone());
        }
        let create = self
            .store
            .client
            .create_multipart_upload()
            .bucket(&self.store.bucket)
            .key(&self.key);
        let id = create.send().await.map_err(refused)?.upload_id;
        let id = id.ok_or_else(|| io::Error::other("the store began an upload without an id"))?;
        self.id = Some(id.clone());
        Ok(id)
    }

    /// A part is there.
    pub(super) fn done(&mut self, etag: Option<String>) {
        let part = CompletedPart::builder()
            .part_number(self.next_number())
            .set_e_tag(etag)
            .build();
        self.parts.push(part);
    }

    /// Sends the next part.
    pub(super) async fn send(&mut self, body: ByteStream, size_bytes: u64) -> BackendResult<()> {
        let id = self.id().await?;
        let send = self
            .store
            .client
            .upload_part()
            .bucket(&self.store.bucket)
            .key(&self.key)
            .upload_id(id)
            .part_number(self.next_number())
            .content_length(i64::try_from(size_bytes).unwrap_or(i64::MAX))
            .body(body);
        let etag = send.send().await.map_err(refused)?.e_tag;
        self.done(etag);
        Ok(())
    }

    /// Makes the parts a blob.
    pub(super) async fn complete(mut self) -> BackendResult<()> {
        let id = self.id().await?;
        let parts = CompletedMultipartUpload::builder()
            .set_parts(Some(std::mem::take(&mut self.parts)))
            .build();
        let complete = self
            .store
            .client
            .complete_multipart_upload()
            .bucket(&self.store.bucket)
            .key(&self.key)
            .upload_id(id)
            .multipart_upload(parts);
        complete.send().await.map_err(refused)?;
        self.id = None;
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let (store, key) = (Arc::clone(&self.store), std::mem::take(&mut self.key));
        runtime.spawn(async move {
            if let Err(error) = store.abort(&key, &id).await {
                tracing::warn!(%error, key, "an unfinished upload is left to the sweeper");
            }
        });
    }
}

impl S3Writer {
    pub(super) fn new(store: Arc<Store>, version: Version) -> Self {
        Self {
            upload: Upload::new(Arc::clone(&store), version),
            store,
            version,
            gathered: Vec::new(),
            gathered_bytes: 0,
            progress: Some(Progress {
                digest: Md5::new(),
                size_bytes: 0,
                part: None,
            }),
        }
    }

    /// Moves what was gathered to the spool folder, and a full part to S3.
    async fn flush(&mut self) -> BackendResult<()> {
        let chunks = std::mem::take(&mut self.gathered);
        self.gathered_bytes = 0;
        let (mut progress, store) = (self.take_progress()?, Arc::clone(&self.store));
        let spooled = spawn_blocking(move || {
            let part = match &mut progress.part {
                Some(part) => part,
                none => none.insert(Spooled::create(store.spool.path())?),
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
        let full = PART_BYTES << (self.upload.parts.len() / 1000);
        let is_full = progress.part.as_ref().is_some_and(|part| part.size_bytes >= full);
        if let Some(part) = progress.part.take_if(|_| is_full) {
            self.send_part(part).await?;
        }
        self.progress = Some(progress);
        Ok(())
    }

    async fn send_part(&mut self, part: Spooled) -> BackendResult<()> {
        let body = ByteStream::from_path(&part.path)
            .await
            .map_err(io::Error::other)?;
        self.upload.send(body, part.size_bytes).await
    }

    async fn put(&self, body: ByteStream, size_bytes: u64) -> BackendResult<()> {
        let put = self
            .store
            .client
            .put_object()
            .bucket(&self.store.bucket)
            .key(self.store.key(self.version))
            .content_length(i64::try_from(size_bytes).unwrap_or(i64::MAX))
            .body(body);
        put.send().await.map_err(refused)?;
        Ok(())
    }

    fn take_progress(&mut self) -> io::Result<Progress> {
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
        let has_spooled = self
            .progress
            .as_ref()
            .is_none_or(|progress| progress.part.is_some());
        if has_spooled && self.gathered_bytes > 0 {
            self.flush().await?;
        }
        let mut progress = self.take_progress()?;
        if self.gathered_bytes > 0 || (progress.part.is_none() && self.upload.id.is_none()) {
            // A tail, or a whole blob, that never left memory.
            let tail = self.gathered.concat();
            progress.digest.update(&tail);
            progress.size_bytes += tail.len() as u64;
            let length = tail.len() as u64;
            if self.upload.id.is_some() {
                self.upload.send(ByteStream::from(tail), length).await?;
            } else {
                self.put(ByteStream::from(tail), length).await?;
            }
        } else if let Some(part) = progress.part.take() {
            if self.upload.id.is_some() {
                self.send_part(part).await?;
            } else {
                let body = ByteStream::from_path(&part.path)
                    .await
                    .map_err(io::Error::other)?;
                self.put(body, part.size_bytes).await?;
            }
        }
        if self.upload.id.is_some() {
            self.upload.complete().await?;
        }
        Ok(BlobInfo {
            size_bytes: progress.size_bytes,
            etag: format!("\"{}\"", hex::encode(progress.digest.finalize())),
            modified: SystemTime::now(),
        })
    }
}
