//! Marks of databases in the bucket: one object for each below `{prefix}owners/`, named as the database.

use std::time::SystemTime;

use aws_sdk_s3::primitives::ByteStream;

use super::store::{Store, map_sdk_error, read_time};
use crate::backend::store_ownership::describe_mark;
use crate::backend::{BackendError, BackendResult};

impl Store {
    fn marks_folder(&self) -> String {
        format!("{}owners/", self.prefix)
    }

    fn mark_key(&self, owner: &str) -> String {
        format!("{}{owner}", self.marks_folder())
    }

    /// The keys of the marks of others, with their ages.
    pub(super) async fn list_other_marks(&self, owner: &str) -> BackendResult<Vec<String>> {
        let marks = self.other_marks(owner).await?;
        let described = marks.iter().map(|(key, written)| describe_mark(key, *written));
        Ok(described.collect())
    }

    /// The keys of the marks of others, and when they were written.
    async fn other_marks(&self, owner: &str) -> BackendResult<Vec<(String, SystemTime)>> {
        let list = self
            .client
            .list_objects_v2()
            .bucket(&self.bucket)
            .prefix(self.marks_folder());
        let page = list.send().await.map_err(map_sdk_error)?;
        let own = self.mark_key(owner);
        let marks = page
            .contents()
            .iter()
            .filter_map(|object| Some((object.key()?.to_owned(), read_time(object.last_modified()))));
        Ok(marks.filter(|(key, _)| *key != own).collect())
    }

    /// The text of a mark; `None` without one.
    pub(super) async fn read_mark(&self, owner: &str) -> BackendResult<Option<String>> {
        let get = self
            .client
            .get_object()
            .bucket(&self.bucket)
            .key(self.mark_key(owner));
        let mark = match get.send().await.map_err(map_sdk_error) {
            Err(BackendError::Missing) => return Ok(None),
            mark => mark?,
        };
        let bytes = mark
            .body
            .collect()
            .await
            .map_err(|error| BackendError::Unavailable(error.to_string()))?;
        Ok(Some(String::from_utf8_lossy(&bytes.into_bytes()).into_owned()))
    }

    /// Writes a mark.
    pub(super) async fn write_mark(&self, owner: &str, text: &str) -> BackendResult<()> {
        let put = self
            .client
            .put_object()
            .bucket(&self.bucket)
            .key(self.mark_key(owner))
            .body(ByteStream::from(text.as_bytes().to_vec()));
        put.send().await.map_err(map_sdk_error)?;
        Ok(())
    }

    /// When a mark was written, by the store's clock.
    pub(super) async fn date_mark(&self, owner: &str) -> BackendResult<SystemTime> {
        Ok(self.stat_key(&self.mark_key(owner)).await?.modified)
    }

    /// Removes the marks of others; returns their keys.
    pub(super) async fn remove_other_marks(&self, owner: &str) -> BackendResult<Vec<String>> {
        let mut keys = Vec::new();
        for (key, _) in self.other_marks(owner).await? {
            self.remove_key(&key).await?;
            keys.push(key);
        }
        Ok(keys)
    }
}
