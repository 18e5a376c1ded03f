//! Looks up buckets and objects: as the service, which bypasses the policies, or under the caller's role.

use deadpool_postgres::Transaction;
use selvedge_postgres::{Row, RowError};

use crate::context::RequestContext;
use crate::database::object_row::{ObjectRow, object_columns};
use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::{StorageError, UniqueKey};
use crate::request::object_path::ObjectPath;
use crate::state::Storage;
use crate::validation::object_limits::ObjectLimits;
use crate::versions::find_version;

/// The settings of a bucket that operations on its objects need.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    /// Whether anyone may download an object whose key they know.
    pub(crate) public: bool,
    /// Largest object in bytes.
    pub(crate) file_size_limit: Option<i64>,
    /// Allowed content types; `None` or an empty list allows all.
    pub(crate) allowed_mime_types: Option<Vec<String>>,
    /// Whether it keeps versions, or has kept some: `versioning_status` is not `DISABLED`.
    pub(crate) has_versions: bool,
    /// Whether it has kept versions and keeps no further ones: `versioning_status` is `SUSPENDED`.
    pub(crate) is_paused: bool,
}

impl Bucket {
    fn read(row: &Row) -> Result<Self, StorageError> {
        let read = || -> Result<Self, RowError> {
            Ok(Self {
                public: row.try_get::<_, Option<bool>>("public")?.unwrap_or(false),
                file_size_limit: row.try_get("file_size_limit")?,
                allowed_mime_types: row.try_get("allowed_mime_types")?,
                has_versions: row.try_get("has_versions")?,
                is_paused: row.try_get("is_paused")?,
            })
        };
        read().map_err(StorageError::internal)
    }

    /// The limits for the object of this key, in this bucket and this service.
    pub(crate) fn limits(&self, storage: &Storage, key: &str) -> ObjectLimits<'_> {
        ObjectLimits::new(
            key,
            storage.config().file_size_limit_bytes,
            self.file_size_limit,
            self.allowed_mime_types.as_deref(),
        )
    }
}

const BUCKET: &str = "select b.public, b.file_size_limit, b.allowed_mime_types, \
     b.versioning_status <> 'DISABLED' as has_versions, b.versioning_status = 'SUSPENDED' as is_paused \
     from storage.buckets b where b.id = $1";

const BUCKET_AND_OBJECT: &str = concat!(
    "select b.public, b.file_size_limit, b.allowed_mime_types, b.versioning_status <> 'DISABLED' as has_versions, ",
    "b.versioning_status = 'SUSPENDED' as is_paused, o.id is not null as found, ",
    object_columns!(),
    " from storage.buckets b left join only storage.objects o on o.bucket_id = b.id and o.name = $2 where b.id = $1",
);

const OBJECT: &str = concat!(
    "select ",
    object_columns!(),
    " from only storage.objects o where o.bucket_id = $1 and o.name = $2"
);

/// A bucket, bypassing the policies: uploads need no policy on `storage.buckets`.
///
/// # Errors
/// `NoSuchBucket`.
pub(crate) async fn find_bucket(service: &DbSession, id: &str) -> Result<Bucket, StorageError> {
    let rows = service.read(Statement::new(BUCKET).bind(id)).await?;
    Bucket::read(rows.first().ok_or(StorageError::NoSuchBucket)?)
}

/// A bucket as a transaction of the service sees it.
///
/// # Errors
/// `NoSuchBucket`.
pub(crate) async fn find_bucket_within(
    transaction: &Transaction<'_>,
    id: &str,
) -> Result<Bucket, StorageError> {
    let map_error = |error| StorageError::from_tokio_postgres(error, UniqueKey::Other);
    let statement = transaction.prepare_cached(BUCKET).await.map_err(map_error)?;
    let row = transaction
        .query_opt(&statement, &[&id])
        .await
        .map_err(map_error)?;
    let row = row.ok_or(StorageError::NoSuchBucket)?;
    let read = || -> Result<Bucket, tokio_postgres::Error> {
        Ok(Bucket {
            public: row.try_get::<_, Option<bool>>("public")?.unwrap_or(false),
            file_size_limit: row.try_get("file_size_limit")?,
            allowed_mime_types: row.try_get("allowed_mime_types")?,
            has_versions: row.try_get("has_versions")?,
            is_paused: row.try_get("is_paused")?,
        })
    };
    read().map_err(StorageError::internal)
}

/// A bucket and the object, if it exists: one round trip, bypassing the policies.
///
/// # Errors
/// `NoSuchBucket`.
async fn find_bucket_and_object(
    service: &DbSession,
    target: &ObjectPath,
) -> Result<(Bucket, Option<ObjectRow>), StorageError> {
    let statement = Statement::new(BUCKET_AND_OBJECT)
        .bind(&target.bucket)
        .bind(&target.key);
    let has_object = |rows: &[Row]| matches!(rows.first().map(|row| row.try_get("found")), Some(Ok(true)));
    let rows = service.look_up(statement, has_object).await?;
    let row = rows.first().ok_or(StorageError::NoSuchBucket)?;
    let found: bool = row.try_get("found").map_err(StorageError::internal)?;
    let object = if found { Some(ObjectRow::read(row)?) } else { None };
    Ok((Bucket::read(row)?, object))
}

/// An object under the session's role, as it is now or in the version that is named.
///
/// # Errors
/// `NoSuchKey` when it does not exist or a policy hides it; a caller cannot tell which.
pub(crate) async fn find_visible_object(
    session: &DbSession,
    target: &ObjectPath,
    version: Option<&str>,
) -> Result<ObjectRow, StorageError> {
    if let Some(version) = version {
        return find_version(session, target, version).await;
    }
    let statement = Statement::new(OBJECT).bind(&target.bucket).bind(&target.key);
    let rows = session.look_up(statement, |rows| !rows.is_empty()).await?;
    ObjectRow::read(rows.first().ok_or(StorageError::NoSuchKey)?)
}

/// An object of a public bucket.
///
/// # Errors
/// `NoSuchBucket`, also for a private bucket; `NoSuchKey`.
pub(crate) async fn find_public_object(
    service: &DbSession,
    target: &ObjectPath,
    version: Option<&str>,
) -> Result<ObjectRow, StorageError> {
    let (bucket, object) = find_bucket_and_object(service, target).await?;
    if !bucket.public {
        return Err(StorageError::NoSuchBucket);
    }
    if let Some(version) = version {
        return find_version(service, target, version).await;
    }
    object.ok_or(StorageError::NoSuchKey)
}

/// An object of a public bucket, or one that the caller may select; `None` is an unauthenticated caller.
///
/// # Errors
/// `NoSuchBucket`, also for unauthenticated callers of a private bucket; `NoSuchKey`.
pub(crate) async fn find_readable_object(
    context: &RequestContext,
    caller: Option<&DbSession>,
    target: &ObjectPath,
    version: Option<&str>,
) -> Result<ObjectRow, StorageError> {
    let service = context.service();
    let (bucket, object) = find_bucket_and_object(&service, target).await?;
    let reader = match caller {
        _ if bucket.public => &service,
        // The error for a missing bucket, so that strangers cannot find out which private buckets exist.
        None => return Err(StorageError::NoSuchBucket),
        Some(caller) => caller,
    };
    match version {
        // The first lookup ran as the service, so the row is known already.
        None if reader.identity().is_service() => object.ok_or(StorageError::NoSuchKey),
        version => find_visible_object(reader, target, version).await,
    }
}
