//! The project's storage as the generator uses it. The server implements it with the storage service, because services do
//! not import each other.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

/// Objects of the project's storage. The futures stay on one thread, as those of the storage service do.
#[async_trait(?Send)]
pub trait PictureStore: Send + Sync {
    /// An image as WebP that fits into a box of this size in pixels; with `crops` it fills the box.
    async fn render(
        &self,
        bucket: &str,
        name: &str,
        size: (u32, u32),
        crops: bool,
    ) -> Result<Vec<u8>, StoreError>;

    /// The path and query of a URL of this server with which anyone may download the object for this time.
    fn sign_download(&self, bucket: &str, name: &str, lifetime: Duration) -> Result<String, StoreError>;

    /// Writes an object, in place of one with the same name.
    async fn put(&self, bucket: &str, name: &str, content_type: &str, bytes: Bytes)
    -> Result<(), StoreError>;

    /// Deletes an object; a missing object is not an error.
    async fn delete(&self, bucket: &str, name: &str) -> Result<(), StoreError>;
}

/// Why an object could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The object does not exist.
    #[error("the object does not exist")]
    Missing,
    /// It is not a picture that can be rendered.
    #[error("the object is not a picture that can be rendered")]
    Unreadable,
    /// The store or the database failed; a later attempt may succeed.
    #[error("{0}")]
    Failed(String),
}
