//! Lists the blobs of the bucket, and aborts multipart uploads that were abandoned.

use std::time::{Duration, SystemTime};

use super::store::{Store, map_sdk_error, read_size, read_time};
use crate::backend::{BackendResult, BlobEntry, BlobStat, Version};

impl Store {
    /// A page of blobs. S3 lists keys in byte order, which for UUIDs as text is the order of versions.
    pub(super) async fn list(&self, after: Option<Version>, limit: usize) -> BackendResult<Vec<BlobEntry>> {
        let folder = self.folder();
        let mut blobs = Vec::new();
        let mut start = after.map(|version| self.key(version));
        while blobs.len() < limit {
            let page = self
                .client
                .list_objects_v2()
                .bucket(&self.bucket)
                .prefix(&folder)
                .set_start_after(start.take())
                .max_keys(i32::try_from(limit - blobs.len()).unwrap_or(1000).min(1000))
                .send()
                .await
                .map_err(map_sdk_error)?;
            for object in page.contents() {
                let version = object.key().and_then(|key| key.strip_prefix(&folder));
                if let Some(version) = version.and_then(Version::parse) {
                    let stat = BlobStat {
                        size_bytes: read_size(object.size()),
                        modified: read_time(object.last_modified()),
                    };
                    blobs.push(BlobEntry { version, stat });
                }
            }
            // Pages continue behind the last key and not by continuation token, because the first page starts behind a
            // key as well.
            match page.contents().last().and_then(|object| object.key()) {
                Some(last) if page.is_truncated() == Some(true) => start = Some(last.to_owned()),
                _ => break,
            }
        }
        Ok(blobs)
    }

    /// Aborts our multipart uploads that began longer ago than `older_than`; returns how many.
    pub(super) async fn abort_uploads(&self, older_than: Duration) -> BackendResult<u64> {
        let blobs = self.abort_uploads_below(&self.folder(), older_than).await?;
        Ok(blobs + self.abort_uploads_below(&self.trash_folder(), older_than).await?)
    }

    async fn abort_uploads_below(&self, folder: &str, older_than: Duration) -> BackendResult<u64> {
        let now = SystemTime::now();
        let (mut aborted, mut key_marker, mut id_marker) = (0, None, None);
        loop {
            let page = self
                .client
                .list_multipart_uploads()
                .bucket(&self.bucket)
                .prefix(folder)
                .set_key_marker(key_marker.take())
                .set_upload_id_marker(id_marker.take())
                .send()
                .await;
            let page = match page {
                Ok(page) => page,
                // Some compatible stores cannot list uploads; those have to expire them on their own.
                Err(error) if error.raw_response().is_some_and(|r| r.status().as_u16() == 501) => {
                    return Ok(aborted);
                }
                Err(error) => return Err(map_sdk_error(error)),
            };
            for upload in page.uploads() {
                let is_old = now
                    .duration_since(read_time(upload.initiated()))
                    .is_ok_and(|age| age > older_than);
                if let (true, Some(key), Some(id)) = (is_old, upload.key(), upload.upload_id()) {
                    self.abort(key, id).await?;
                    aborted += 1;
                }
            }
            if page.is_truncated() != Some(true) || page.next_key_marker().is_none() {
                return Ok(aborted);
            }
            key_marker = page.next_key_marker().map(str::to_owned);
            id_marker = page.next_upload_id_marker().map(str::to_owned);
        }
    }

    /// Aborts one multipart upload.
    pub(super) async fn abort(&self, key: &str, upload_id: &str) -> BackendResult<()> {
        let abort = self
            .client
            .abort_multipart_upload()
            .bucket(&self.bucket)
            .key(key)
            .upload_id(upload_id);
        abort.send().await.map_err(map_sdk_error)?;
        Ok(())
    }
}
