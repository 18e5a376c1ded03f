//! The last step of every write: inserts or replaces the row that makes a complete blob an object, as the service.
//!
//! The order is an invariant of this crate: first the blob is complete under a version that no row has, then the row is
//! committed, then the replaced blob is removed. A crash in between leaves a blob without a row, which a sweep removes,
//! and never a row without its blob.

use deadpool_postgres::{Client, Transaction};
use serde_json::Value;

use super::pending_blob::PendingBlob;
use crate::backend::Version;
use crate::database::object_row::{ObjectRow, object_columns};
use crate::database::session::{DbSession, begin_service_transaction, format_lock_timeout};
use crate::database::statement::Statement;
use crate::error::{StorageError, UniqueKey};
use crate::identity::Owner;
use crate::request::object_path::ObjectPath;
use crate::state::Storage;

const INSERT: &str = concat!(
    "insert into storage.objects as o (bucket_id, name, owner, owner_id, version, metadata, user_metadata) ",
    "values ($1, $2, $3::uuid, $4, $5, $6::jsonb, $7::jsonb) returning ",
    object_columns!(),
);

/// The values of a row in a transaction, where parameters have types of their own.
macro_rules! insert_in_transaction {
    () => {
        "insert into storage.objects as o (bucket_id, name, owner, owner_id, version, metadata, user_metadata) \
         values ($1, $2, $3::text::uuid, $4, $5, $6::text::jsonb, $7::text::jsonb) "
    };
}

const INSERT_IN_TRANSACTION: &str = concat!(insert_in_transaction!(), "returning ", object_columns!());

/// Replaces an existing object. An uploader without a subject leaves the owner as it is, and absent user metadata
/// leaves the stored one.
const UPSERT: &str = concat!(
    insert_in_transaction!(),
    "on conflict (bucket_id, name) do update set version = excluded.version, metadata = excluded.metadata, ",
    "user_metadata = coalesce(excluded.user_metadata, o.user_metadata), ",
    "owner = case when excluded.owner_id is null then o.owner else excluded.owner end, ",
    "owner_id = coalesce(excluded.owner_id, o.owner_id) returning ",
    object_columns!(),
);

/// Serialises writers of one key. An advisory lock, because a row lock cannot be taken before the first upload. The
/// timeout is set first in the same statement, so it limits the wait for the lock. Two keys with equal hashes only wait
/// for each other.
const LOCK: &str = "select set_config('lock_timeout', $3, true), \
     pg_advisory_xact_lock(hashtextextended($1 || '/' || $2, 0))";

const OLD_VERSION: &str = "select version from storage.objects where bucket_id = $1 and name = $2 for update";

/// A complete blob and the row that shall refer to it.
pub(crate) struct NewObject {
    pub(crate) target: ObjectPath,
    pub(crate) owner: Owner,
    pub(crate) metadata: Value,
    /// `None` leaves the user metadata of a replaced object as it is.
    pub(crate) user_metadata: Option<Value>,
    /// Whether an existing object may be replaced.
    pub(crate) upsert: bool,
    pub(crate) blob: PendingBlob,
}

/// The parts of a [`NewObject`] that become columns.
struct NewRow {
    target: ObjectPath,
    owner: Owner,
    metadata: Value,
    user_metadata: Option<Value>,
    version: Version,
    upsert: bool,
}

impl NewObject {
    fn split(self) -> (NewRow, PendingBlob) {
        let row = NewRow {
            target: self.target,
            owner: self.owner,
            metadata: self.metadata,
            user_metadata: self.user_metadata,
            version: self.blob.version(),
            upsert: self.upsert,
        };
        (row, self.blob)
    }
}

/// Commits the object and removes the blob that it replaces. Runs as a separate task, so that it completes when the client
/// disconnects.
///
/// # Errors `KeyAlreadyExists`, `LockTimeout`, or PostgreSQL's error; the new blob is removed then, unless the row may have
/// been committed.
pub(crate) async fn commit_object(service: DbSession, object: NewObject) -> Result<ObjectRow, StorageError> {
    actix_web::rt::spawn(write_row(service, object))
        .await
        .map_err(StorageError::internal)?
}

async fn write_row(service: DbSession, object: NewObject) -> Result<ObjectRow, StorageError> {
    let (new, blob) = object.split();
    let write = async {
        // A plain insert needs no lock: the unique index lets one of two writers pass, and no old blob has to be removed.
        if new.upsert {
            let mut client = connect(service.storage()).await?;
            let transaction = service.transaction(&mut client).await?;
            write_in_transaction(service.storage(), transaction, &new)
                .await
                .map(Some)
        } else {
            Ok(Some((insert_row(&service, &new).await?, None)))
        }
    };
    let written = blob.commit(write).await?;
    let (row, replaced) = written.ok_or(StorageError::NoSuchKey)?;
    discard_replaced(service.storage(), replaced.as_deref(), new.version);
    Ok(row)
}

/// Commits the object after another step of the same transaction, and removes the blob that it replaces. When the step returns
/// `None`, nothing is changed and the new blob is removed. Runs as a separate task, as [`commit_object`] does.
///
/// # Errors
/// Those of the step and of [`commit_object`].
pub(crate) async fn commit_object_after<T: 'static>(
    service: DbSession,
    object: NewObject,
    step: impl AsyncFnOnce(&Transaction<'_>) -> Result<Option<T>, StorageError> + 'static,
) -> Result<Option<T>, StorageError> {
    actix_web::rt::spawn(write_row_after(service, object, step))
        .await
        .map_err(StorageError::internal)?
}

async fn write_row_after<T>(
    service: DbSession,
    object: NewObject,
    step: impl AsyncFnOnce(&Transaction<'_>) -> Result<Option<T>, StorageError>,
) -> Result<Option<T>, StorageError> {
    let (new, blob) = object.split();
    let storage = service.storage();
    let write = async {
        let mut client = connect(storage).await?;
        let transaction = service.transaction(&mut client).await?;
        let Some(done) = step(&transaction).await? else {
            return Ok::<_, StorageError>(None);
        };
        let (_, replaced) = write_in_transaction(storage, transaction, &new).await?;
        Ok(Some((done, replaced)))
    };
    let written = blob.commit(write).await?;
    let Some((done, replaced)) = written else {
        return Ok(None);
    };
    discard_replaced(storage, replaced.as_deref(), new.version);
    Ok(Some(done))
}

/// Removes the bytes of a replaced object. Never those of the row as it is now, whatever led to equal versions.
fn discard_replaced(storage: &Storage, replaced: Option<&str>, new: Version) {
    let old = replaced.and_then(Version::parse);
    if let Some(old) = old.filter(|old| *old != new) {
        storage.discard_blob(old);
    }
}

async fn connect(storage: &Storage) -> Result<Client, StorageError> {
    storage
        .transactions()
        .get()
        .await
        .map_err(StorageError::from_pool)
}

async fn insert_row(service: &DbSession, object: &NewRow) -> Result<ObjectRow, StorageError> {
    let statement = Statement::new(INSERT)
        .unique_violation_means(UniqueKey::Object)
        .bind(&object.target.bucket)
        .bind(&object.target.key)
        .bind_optional(object.owner.uuid())
        .bind_optional(object.owner.id.as_deref())
        .bind(object.version.to_string())
        .bind(object.metadata.to_string())
        .bind_optional(object.user_metadata.as_ref().map(Value::to_string));
    let rows = service.write(statement).await?;
    ObjectRow::read(rows.first().ok_or(StorageError::NoSuchKey)?)
}

/// Writes an object for another part of the server, and removes the blob that it replaces. Unlike [`commit_object`] it
/// needs no request.
///
/// # Errors
/// As [`commit_object`].
pub(crate) async fn commit_for_server(storage: &Storage, object: NewObject) -> Result<(), StorageError> {
    let (new, blob) = object.split();
    let write = async {
        let mut client = connect(storage).await?;
        let transaction =
            begin_service_transaction(storage.database(), &mut client, "storage.object.upload").await?;
        write_in_transaction(storage, transaction, &new).await.map(Some)
    };
    let written = blob.commit(write).await?;
    let replaced = written.and_then(|(_, replaced)| replaced);
    discard_replaced(storage, replaced.as_deref(), new.version);
    Ok(())
}

/// Inserts the row, or replaces it where that is allowed, and commits. Returns the row and the version that it had before.
async fn write_in_transaction(
    storage: &Storage,
    transaction: Transaction<'_>,
    object: &NewRow,
) -> Result<(ObjectRow, Option<String>), StorageError> {
    let map_error = |error| StorageError::from_tokio_postgres(error, UniqueKey::Object);
    let (bucket, key) = (&object.target.bucket, &object.target.key);

    // The old version is read under the lock. Otherwise two writers could replace the same version, and the blob of the
    // loser would stay without a row.
    let (old, sql) = if object.upsert {
        (lock_object(storage, &transaction, &object.target).await?, UPSERT)
    } else {
        (None, INSERT_IN_TRANSACTION)
    };
    let statement = transaction.prepare_cached(sql).await.map_err(map_error)?;
    let version = object.version.to_string();
    let metadata = object.metadata.to_string();
    let user_metadata = object.user_metadata.as_ref().map(Value::to_string);
    let owner = object.owner.uuid();
    let row = transaction
        .query_one(
            &statement,
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
        .map_err(map_error)?;
    let row = ObjectRow::read(&row)?;
    let end = transaction.commit().await;
    end.map_err(|error| StorageError::from_commit(error, UniqueKey::Object))?;
    Ok((row, old))
}

/// Locks a key against other writers for the rest of the transaction; returns the version of its object, if there is
/// one.
///
/// # Errors
/// `LockTimeout` when another writer holds the key for longer than `object_lock_timeout`.
async fn lock_object(
    storage: &Storage,
    transaction: &Transaction<'_>,
    target: &ObjectPath,
) -> Result<Option<String>, StorageError> {
    let map_error = |error| StorageError::from_tokio_postgres(error, UniqueKey::Object);
    let timeout = format_lock_timeout(storage.config().object_lock_timeout);
    // Prepared once per connection, because both run for every object that is written.
    let lock = transaction.prepare_cached(LOCK).await.map_err(map_error)?;
    let old_version = transaction.prepare_cached(OLD_VERSION).await.map_err(map_error)?;
    transaction
        .execute(&lock, &[&target.bucket, &target.key, &timeout])
        .await
        .map_err(|error| match map_error(error) {
            StorageError::ResourceLocked => StorageError::LockTimeout,
            other => other,
        })?;
    // Also locks the row itself, against moves, deletions and SQL of the application, which take no advisory lock.
    let old = transaction
        .query_opt(&old_version, &[&target.bucket, &target.key])
        .await
        .map_err(map_error)?;
    match old {
        Some(row) => row.try_get(0).map_err(StorageError::internal),
        None => Ok(None),
    }
}
