//! The storage service as the generator's store of pictures.

use std::time::Duration;

use actix_web::web::Bytes;
use async_trait::async_trait;
use selvedge_generator::{PictureStore, StoreError};
use selvedge_storage::{ServiceObjects, StorageError};

/// Objects of this project's storage.
pub(super) struct StoragePictures(pub(super) ServiceObjects);

#[async_trait(?Send)]
impl PictureStore for StoragePictures {
    async fn render(
        &self,
        bucket: &str,
        name: &str,
        size: (u32, u32),
        crops: bool,
    ) -> Result<Vec<u8>, StoreError> {
        self.0
            .render(bucket, name, size, crops)
            .await
            .map_err(map_storage_error)
    }

    fn sign_download(&self, bucket: &str, name: &str, lifetime: Duration) -> Result<String, StoreError> {
        let url = self.0.sign_download(bucket, name, lifetime);
        url.map(|path| format!("/storage/v1{path}"))
            .map_err(map_storage_error)
    }

    async fn put(
        &self,
        bucket: &str,
        name: &str,
        content_type: &str,
        bytes: Bytes,
    ) -> Result<(), StoreError> {
        self.0
            .put(bucket, name, content_type, bytes)
            .await
            .map_err(map_storage_error)
    }

    async fn delete(&self, bucket: &str, name: &str) -> Result<(), StoreError> {
        self.0.delete(bucket, name).await.map_err(map_storage_error)
    }
}

fn map_storage_error(error: StorageError) -> StoreError {
    match error {
        StorageError::NoSuchKey | StorageError::NoSuchBucket | StorageError::BlobMissing => {
            StoreError::Missing
        }
        StorageError::Unrenderable(_) => StoreError::Unreadable,
        error => StoreError::Failed(error.to_string()),
    }
}
