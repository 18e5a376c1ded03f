//! The trash of the bucket: blobs that a sweep has found without a row. They are kept for a while, because the rows may be in another database.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::{TryStreamExt, stream};

use super::multipart_write::MultipartWrite;
use super::store::{COPY_MAX_BYTES, Store, map_sdk_error, read_time};
use crate::backend::{BackendError, BackendResult, Version};

/// Removals at a time: each takes tens of milliseconds.
const CONCURRENCY: usize = 8;

impl Store {
    /// The prefix of the keys of what is in the trash.
    pub(super) fn trash_folder(&self) -> String {
        format!("{}trash/", self.prefix)
    }

    fn trash_key(&self, version: Version) -> String {
        format!("{}{version}", self.trash_folder())
    }

    /// See [`Backend::trash`](crate::backend::Backend::trash).
    pub(super) async fn trash(self: &Arc<Self>, version: Version) -> BackendResult<()> {
        self.move_object(&self.key(version), &self.trash_key(version))
            .await
            .map(|_| ())
    }

    /// See [`Backend::recover`](crate::backend::Backend::recover).
    pub(super) async fn recover(self: &Arc<Self>, version: Version) -> BackendResult<bool> {
        self.move_object(&self.trash_key(version), &self.key(version))
            .await
    }

    /// False when there is no object `from`.
    async fn move_object(self: &Arc<Self>, from: &str, to: &str) -> BackendResult<bool> {
        match self.copy_object(from, to).await {
            Err(BackendError::Missing) => return Ok(false),
            copied => copied?,
        }
        self.remove_key(from).await?;
        Ok(true)
    }

    /// Copies an object of any size inside the store.
    pub(super) async fn copy_object(self: &Arc<Self>, from: &str, to: &str) -> BackendResult<()> {
        let size = self.stat_key(from).await?.size_bytes;
        if size <= COPY_MAX_BYTES {
            let copy = self
                .client
                .copy_object()
                .bucket(&self.bucket)
                .copy_source(self.copy_source(from))
                .key(to);
            copy.send().await.map_err(map_sdk_error)?;
            return Ok(());
        }
        let mut upload = MultipartWrite::new(Arc::clone(self), to.to_owned());
        let mut start = 0;
        while start < size {
            let end = (start + COPY_MAX_BYTES).min(size);
            self.copy_part(&mut upload, from, start..end).await?;
            start = end;
        }
        upload.complete().await
    }

    /// See [`Backend::empty_trash`](crate::backend::Backend::empty_trash).
    pub(super) async fn empty_trash(&self, older_than: Duration) -> BackendResult<u64> {
        let (now, folder) = (SystemTime::now(), self.trash_folder());
        let (mut removed, mut start) = (0, None);
        loop {
            let page = self
                .client
                .list_objects_v2()
                .bucket(&self.bucket)
                .prefix(&folder)
                .set_start_after(start.take())
                .send()
                .await
                .map_err(map_sdk_error)?;
            let old = page.contents().iter().filter(|object| {
                let age = now.duration_since(read_time(object.last_modified()));
                age.unwrap_or_default() >= older_than
            });
            let keys: Vec<&str> = old.filter_map(|object| object.key()).collect();
            removed += keys.len() as u64;
            stream::iter(keys.into_iter().map(Ok))
                .try_for_each_concurrent(CONCURRENCY, |key| self.remove_key(key))
                .await?;
            match page.contents().last().and_then(|object| object.key()) {
                Some(last) if page.is_truncated() == Some(true) => start = Some(last.to_owned()),
                _ => return Ok(removed),
            }
        }
    }
}
