//! Lookups: a bucket as the service sees it, an object as the service or as the caller sees it.

use selvedge_postgres::{Row, RowError};

use crate::error::StorageError;
use crate::object_row::{ObjectRow, object_columns};
use crate::route::ObjectPath;
use crate::session::{Session, Statement};

/// What an operation on objects needs to know of their bucket.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    /// Whether anyone may read by exact key.
    pub(crate) public: bool,
    /// Largest object in bytes.
    pub(crate) file_size_limit: Option<i64>,
    /// Types that may enter; none or an empty list means all.
    pub(crate) allowed_mime_types: Option<Vec<String>>,
}

impl Bucket {
    fn read(row: &Row) -> Result<Self, StorageError> {
        let read = || -> Result<Self, RowError> {
            Ok(Self {
                public: row.try_get::<_, Option<bool>>("public")?.unwrap_or(false),
                file_size_limit: row.try_get("file_size_limit")?,
                allowed_mime_types: row.try_get("allowed_mime_types")?,
            })
        };
        read().map_err(StorageError::internal)
    }
}

const BUCKET: &str =
    "select b.public, b.file_size_limit, b.allowed_mime_types from storage.buckets b where b.id = $1";

const BUCKET_AND_OBJECT: &str = concat!(
    "select b.public, b.file_size_limit, b.allowed_mime_types, o.id is not null as found, ",
    object_columns!(),
    " from storage.buckets b left join storage.objects o on o.bucket_id = b.id and o.name = $2 where b.id = $1",
);

const OBJECT: &str = concat!(
    "select ",
    object_columns!(),
    " from storage.objects o where o.bucket_id = $1 and o.name = $2"
);

/// The bucket of an upload. Looked up past the policies: callers need none on `storage.buckets`.
///
/// # Errors
/// `NoSuchBucket`.
pub(crate) async fn get_bucket(service: &Session, id: &str) -> Result<Bucket, StorageError> {
    let rows = service.read(Statement::new(BUCKET).bind(id)).await?;
    Bucket::read(rows.first().ok_or(StorageError::NoSuchBucket)?)
}

/// A bucket and, if it is there, the object: one round trip, past the policies.
///
/// # Errors
/// `NoSuchBucket`.
pub(crate) async fn get_bucket_and_object(
    service: &Session,
    target: &ObjectPath,
) -> Result<(Bucket, Option<ObjectRow>), StorageError> {
    let statement = Statement::new(BUCKET_AND_OBJECT)
        .bind(&target.bucket)
        .bind(&target.key);
    let rows = service.read(statement).await?;
    let row = rows.first().ok_or(StorageError::NoSuchBucket)?;
    let found: bool = row.try_get("found").map_err(StorageError::internal)?;
    let object = if found { Some(ObjectRow::read(row)?) } else { None };
    Ok((Bucket::read(row)?, object))
}

/// An object as the session may see it.
///
/// # Errors
/// `NoSuchKey` when it is not there or hidden: both look the same.
pub(crate) async fn get_visible(session: &Session, target: &ObjectPath) -> Result<ObjectRow, StorageError> {
    let rows = session
        .read(Statement::new(OBJECT).bind(&target.bucket).bind(&target.key))
        .await?;
    ObjectRow::read(rows.first().ok_or(StorageError::NoSuchKey)?)
}
