//! Objects for other parts of the server, which read and write them as the service itself and without a request.
//!
//! No policy is asked here: callers name only objects that they have decided about themselves, or ask for public ones alone.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use deadpool_postgres::Client;
use futures_util::stream;

use crate::backend::Version;
use crate::database::object_row::{Declared, ObjectRow, object_columns};
use crate::database::session::begin_service_transaction;
use crate::error::{StorageError, UniqueKey};
use crate::identity::Owner;
use crate::object::build_signed_url;
use crate::object::commit::{NewObject, commit_for_server};
use crate::object::receive::receive_blob;
use crate::render::render_for_server;
use crate::request::object_path::ObjectPath;
use crate::state::Storage;

const FIND: &str = concat!(
    "select ",
    object_columns!(),
    " from only storage.objects o where o.bucket_id = $1 and o.name = $2"
);

const FIND_PUBLIC: &str = concat!(
    "select ",
    object_columns!(),
    " from only storage.objects o join storage.buckets b on b.id = o.bucket_id and b.public
      where o.bucket_id = $1 and o.name = $2"
);

const DELETE: &str =
    "delete from only storage.objects o where o.bucket_id = $1 and o.name = $2 returning o.version";

/// Objects as the service itself sees them.
#[derive(Clone)]
pub struct ServiceObjects {
    storage: Arc<Storage>,
}

impl ServiceObjects {
    /// The objects of a store.
    pub fn new(storage: Arc<Storage>) -> Self {
        Self { storage }
    }

    /// An image as WebP that fits into a box of this size in pixels; with `crops` it fills the box.
    ///
    /// # Errors
    /// `NoSuchKey`, `Unrenderable`, `RenderTimeout`, `RenderOverload`, or those of the database and the store.
    pub async fn render(
        &self,
        bucket: &str,
        name: &str,
        size: (u32, u32),
        crops: bool,
    ) -> Result<Vec<u8>, StorageError> {
        let row = self.find(FIND, bucket, name).await?;
        render_for_server(&self.storage, &row, size, crops).await
    }

    /// An image of a public bucket as WebP that fits into a box of this size in pixels. For callers that got its address
    /// from people, who may name any file.
    ///
    /// # Errors
    /// As [`Self::render`]; `NoSuchKey` also for a file of a private bucket.
    pub async fn render_public(
        &self,
        bucket: &str,
        name: &str,
        size: (u32, u32),
    ) -> Result<Vec<u8>, StorageError> {
        let row = self.find(FIND_PUBLIC, bucket, name).await?;
        render_for_server(&self.storage, &row, size, false).await
    }

    /// A URL, relative to the service, with which anyone may download the object until the time has passed.
    ///
    /// # Errors
    /// `InvalidParameter` for a time that a date cannot represent.
    pub fn sign_download(
        &self,
        bucket: &str,
        name: &str,
        lifetime: Duration,
    ) -> Result<String, StorageError> {
        let seconds = i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX);
        build_signed_url(&self.storage, &object_path(bucket, name), seconds, None)
    }

    /// Writes an object, in place of one with the same name.
    ///
    /// # Errors
    /// `InvalidKey`, `NoSuchBucket`, `EntityTooLarge`, or those of the database and the store.
    pub async fn put(
        &self,
        bucket: &str,
        name: &str,
        content_type: &str,
        bytes: Bytes,
    ) -> Result<(), StorageError> {
        let target = object_path(bucket, name);
        target.check_names()?;
        let limit = self.storage.config().file_size_limit_bytes;
        let source = stream::iter([Ok::<_, StorageError>(bytes)]);
        let (blob, info) = receive_blob(&self.storage, limit, source).await?;
        let declared = Declared {
            mime_type: content_type.to_owned(),
            cache_control: "max-age=3600".to_owned(),
            content_encoding: None,
            robots_tag: None,
        };
        let object = NewObject {
            target,
            owner: Owner::default(),
            metadata: declared.metadata(&info),
            user_metadata: None,
            upsert: true,
            blob,
            checks: None,
        };
        commit_for_server(&self.storage, object).await
    }

    /// Deletes an object; a missing object is not an error.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn delete(&self, bucket: &str, name: &str) -> Result<(), StorageError> {
        let mut client = self.client().await?;
        let storage = &self.storage;
        let transaction =
            begin_service_transaction(storage.database(), &mut client, "storage.object.delete").await?;
        let map_error = |error| StorageError::from_tokio_postgres(error, UniqueKey::Object);
        let deleted = transaction.query_opt(DELETE, &[&bucket, &name]).await;
        let deleted = deleted.map_err(map_error)?;
        transaction.commit().await.map_err(map_error)?;
        let version: Option<String> = match deleted {
            Some(row) => row.try_get(0).map_err(StorageError::internal)?,
            None => None,
        };
        if let Some(version) = version.as_deref().and_then(Version::parse) {
            storage.discard_blob(version);
        }
        Ok(())
    }

    async fn find(&self, query: &str, bucket: &str, name: &str) -> Result<ObjectRow, StorageError> {
        let mut client = self.client().await?;
        let storage = &self.storage;
        let transaction =
            begin_service_transaction(storage.database(), &mut client, "storage.object.get").await?;
        let map_error = |error| StorageError::from_tokio_postgres(error, UniqueKey::Object);
        let row = transaction.query_opt(query, &[&bucket, &name]).await;
        let row = row.map_err(map_error)?.ok_or(StorageError::NoSuchKey)?;
        let row = ObjectRow::read(&row)?;
        transaction.commit().await.map_err(map_error)?;
        Ok(row)
    }

    async fn client(&self) -> Result<Client, StorageError> {
        self.storage
            .transactions()
            .get()
            .await
            .map_err(StorageError::from_pool)
    }
}

fn object_path(bucket: &str, name: &str) -> ObjectPath {
    ObjectPath {
        bucket: bucket.to_owned(),
        key: name.to_owned(),
    }
}
