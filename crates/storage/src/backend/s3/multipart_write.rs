//! A multipart upload to the store, for blobs that are too large for one request.

use std::io;
use std::sync::Arc;

use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{CompletedMultipartUpload, CompletedPart};

use super::store::{Store, map_sdk_error};
use crate::backend::BackendResult;

/// A multipart upload to the store; aborted when dropped unfinished. It begins with the first part.
pub(super) struct MultipartWrite {
    store: Arc<Store>,
    key: String,
    id: Option<String>,
    parts: Vec<CompletedPart>,
}

impl MultipartWrite {
    /// An upload that has not begun yet.
    pub(super) fn new(store: Arc<Store>, key: String) -> Self {
        Self {
            store,
            key,
            id: None,
            parts: Vec::new(),
        }
    }

    /// The key of the object that the upload makes.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// Whether the upload was begun in the store.
    pub(super) fn has_begun(&self) -> bool {
        self.id.is_some()
    }

    /// How many parts are stored.
    pub(super) fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// The number of the next part.
    pub(super) fn next_number(&self) -> i32 {
        i32::try_from(self.parts.len()).unwrap_or(i32::MAX) + 1
    }

    /// The id of the upload; begins it when necessary.
    pub(super) async fn begin(&mut self) -> BackendResult<String> {
        if let Some(id) = &self.id {
            return Ok(id.clone());
        }
        let create = self
            .store
            .client
            .create_multipart_upload()
            .bucket(&self.store.bucket)
            .key(&self.key);
        let id = create.send().await.map_err(map_sdk_error)?.upload_id;
        let id = id.ok_or_else(|| io::Error::other("the store began an upload without an id"))?;
        self.id = Some(id.clone());
        Ok(id)
    }

    /// Notes that the next part was stored.
    pub(super) fn add_part(&mut self, etag: Option<String>) {
        let part = CompletedPart::builder()
            .part_number(self.next_number())
            .set_e_tag(etag)
            .build();
        self.parts.push(part);
    }

    /// Uploads the next part.
    pub(super) async fn send_part(&mut self, body: ByteStream, size_bytes: u64) -> BackendResult<()> {
        let id = self.begin().await?;
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
        let etag = send.send().await.map_err(map_sdk_error)?.e_tag;
        self.add_part(etag);
        Ok(())
    }

    /// Completes the upload: the parts become a blob.
    pub(super) async fn complete(mut self) -> BackendResult<()> {
        let id = self.begin().await?;
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
        complete.send().await.map_err(map_sdk_error)?;
        // The parts have become a blob: nothing is left that `drop` should abort.
        self.id = None;
        Ok(())
    }
}

impl Drop for MultipartWrite {
    fn drop(&mut self) {
        // `drop` cannot wait for a request, so a task sends it. Outside a runtime, as at the end of the process, the
        // upload is left to the next sweep. Until it is aborted, the store charges for its parts.
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let (store, key) = (Arc::clone(&self.store), std::mem::take(&mut self.key));
        runtime.spawn(async move {
            if let Err(error) = store.abort(&key, &id).await {
                tracing::warn!(%error, key, "an unfinished upload is left to the next sweep");
            }
        });
    }
}
