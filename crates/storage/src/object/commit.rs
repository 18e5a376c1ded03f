//! The last step of every write: the row that makes a finished blob the object, in one transaction, as the service.
//!
//! Order (the invariant of this crate): the blob is complete under a version nobody refers to; then the row; then the
//! old blob goes. A crash in between leaves a blob without a row, never a row without its blob.

use std::sync::Arc;

use serde_json::Value;

use crate::backend::Version;
use crate::error::{StorageError, Taken};
use crate::identity::Owner;
use crate::object_row::{ObjectRow, object_columns};
use crate::route::ObjectPath;
use crate::serve::Storage;
use crate::session::{Session, Statement, lock_timeout};

const INSERT: &str = concat!(
    "insert into storage.objects as o (bucket_id, name, owner, owner_id, version, metadata, user_metadata) ",
    "values ($1, $2, $3::uuid, $4, $5, $6::jsonb, $7::jsonb) returning ",
    object_columns!(),
);

/// An uploader without a subject leaves the owner as it is; absent user metadata leaves the stored one.
const UPSERT: &str = concat!(
    "insert into storage.objects as o (bucket_id, name, owner, owner_id, version, metadata, user_metadata) ",
    "values ($1, $2, $3::text::uuid, $4, $5, $6::text::jsonb, $7::text::jsonb) ",
    "on conflict (bucket_id, name) do update set version = excluded.version, metadata = excluded.metadata, ",
    "user_metadata = coalesce(excluded.user_metadata, o.user_metadata), ",
    "owner = case when excluded.owner_id is null then o.owner else excluded.owner end, ",
    "owner_id = coalesce(excluded.owner_id, o.owner_id) returning ",
    object_columns!(),
);

/// Serialises writers of one object, whether it exists or not.
const LOCK: &str = "select set_config('lock_timeout', $3, true), \
     pg_advisory_xact_lock(hashtextextended($1 || '/' || $2, 0))";

const OLD_VERSION: &str = "select version from storage.objects where bucket_id = $1 and name = $2 for update";

/// A finished blob on its way to become an object.
pub(crate) struct NewObject {
    pub(crate) target: ObjectPath,
    pub(crate) owner: Owner,
    pub(crate) metadata: Value,
    /// Absent leaves the user metadata of a replaced object as it is.
    pub(crate) user_metadata: Option<Value>,
    /// Whether an existing object may be replaced.
    pub(crate) upsert: bool,
    pub(crate) blob: PendingBlob,
}

/// A blob that no row refers to yet. Dropped before [`PendingBlob::keep`], it is removed.
pub(crate) struct PendingBlob {
    storage: Arc<Storage>,
    version: Version,
    kept: bool,
}

impl PendingBlob {
    pub(crate) fn new(storage: &Arc<Storage>, version: Version) -> Self {
        Self {
            storage: Arc::clone(storage),
            version,
            kept: false,
        }
    }

    /// A blob that stays even if no row comes to refer to it: someone else will remove it, or try again.
    pub(crate) fn lasting(storage: &Arc<Storage>, version: Version) -> Self {
        Self {
            storage: Arc::clone(storage),
            version,
            kept: true,
        }
    }

    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// A row refers to it now.
    pub(crate) fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for PendingBlob {
    fn drop(&mut self) {
        if !self.kept {
            self.storage.discard(self.version);
        }
    }
}

/// Commits, even when the client goes away meanwhile.
///
/// # Errors
/// `KeyAlreadyExists`, `LockTimeout`, or what PostgreSQL says; the new blob is removed then.
pub(crate) async fn commit(service: Session, object: NewObject) -> Result<ObjectRow, StorageError> {
    actix_web::rt::spawn(write_row(service, object))
        .await
        .map_err(StorageError::internal)?
}

async fn write_row(service: Session, object: NewObject) -> Result<ObjectRow, StorageError> {
    let (row, replaced) = if object.upsert {
        replace(&service, &object).await?
    } else {
        (insert(&service, &object).await?, None)
    };
    object.blob.keep();
    if let Some(old) = replaced.as_deref().and_then(Version::parse) {
        service.worker().storage().discard(old);
    }
    Ok(row)
}

async fn insert(service: &Session, object: &NewObject) -> Result<ObjectRow, StorageError> {
    let statement = Statement::new(INSERT)
        .taken_means(Taken::Key)
        .bind(&object.target.bucket)
        .bind(&object.target.key)
        .bind_optional(object.owner.uuid())
        .bind_optional(object.owner.id.as_deref())
        .bind(object.blob.version().to_string())
        .bind(object.metadata.to_string())
        .bind_optional(object.user_metadata.as_ref().map(Value::to_string));
    let rows = service.write(statement).await?;
    ObjectRow::read(rows.first().ok_or(StorageError::NoSuchKey)?)
}

async fn replace(service: &Session, object: &NewObject) -> Result<(ObjectRow, Option<String>), StorageError> {
    let storage = service.worker().storage();
    let mut client = storage.transactions().get().await.map_err(pool_error)?;
    let transaction = service.transaction(&mut client).await?;
    let refused = |error| StorageError::from_tokio_postgres(error, Taken::Key);
    let (bucket, key) = (&object.target.bucket, &object.target.key);

    let timeout = lock_timeout(storage.config().object_lock_timeout);
    // Prepared once per connection: each of these runs for every object that is written.
    let lock = transaction.prepare_cached(LOCK).await.map_err(refused)?;
    let old_version = transaction.prepare_cached(OLD_VERSION).await.map_err(refused)?;
    let upsert = transaction.prepare_cached(UPSERT).await.map_err(refused)?;
    transaction
        .execute(&lock, &[bucket, key, &timeout])
        .await
        .map_err(|error| match refused(error) {
            StorageError::ResourceLocked => StorageError::LockTimeout,
            other => other,
        })?;
    let old = transaction
        .query_opt(&old_version, &[bucket, key])
        .await
        .map_err(refused)?;
    let old: Option<String> = match old {
        Some(row) => row.try_get(0).map_err(StorageError::internal)?,
        None => None,
    };
    let version = object.blob.version().to_string();
    let metadata = object.metadata.to_string();
    let user_metadata = object.user_metadata.as_ref().map(Value::to_string);
    let owner = object.owner.uuid();
    let row = transaction
        .query_one(
            &upsert,
            &[
                bucket,
                key,
                &owner,
                &object.owner.id,
                &version,
                &metadata,
                &user_metadata,
            ],
        )
        .await
        .map_err(refused)?;
    let row = ObjectRow::read(&row)?;
    transaction.commit().await.map_err(refused)?;
    Ok((row, old))
}

/// No connection became free, or none could be made.
pub(crate) fn pool_error(error: deadpool_postgres::PoolError) -> StorageError {
    match error {
        deadpool_postgres::PoolError::Timeout(_) => StorageError::DatabaseTimeout,
        deadpool_postgres::PoolError::Backend(error) => {
            StorageError::from_tokio_postgres(error, Taken::Resource)
        }
        other => StorageError::internal(other),
    }
}

/// Makes a second blob with the bytes of a row's blob.
///
/// # Errors
/// `BlobMissing` when the row has no bytes.
pub(crate) async fn copy_blob(service: &Session, source: &ObjectRow) -> Result<PendingBlob, StorageError> {
    let storage = service.worker().storage();
    let from = source.blob_version().ok_or(StorageError::BlobMissing)?;
    let blob = PendingBlob::new(storage, Version::fresh());
    storage.backend().copy(from, blob.version()).await?;
    Ok(blob)
}
