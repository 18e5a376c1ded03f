//! The last step of every write: inserts or replaces the row that makes a complete blob an object, as the service.
//!
//! The order is an invariant of this crate: first the blob is complete under a version that no row has, then the row is
//! committed, then the replaced blob is removed. A crash in between leaves a blob without a row, which a sweep removes,
//! and never a row without its blob.

use deadpool_postgres::{Client, Transaction};
use serde_json::Value;

use super::authorize_write::{AskedWrite, WriteIntent};
use super::lookup::{Bucket, find_bucket, find_bucket_within};
use super::pending_blob::PendingBlob;
use crate::backend::Version;
use crate::database::object_row::{ObjectRow, object_columns};
use crate::database::session::{DbSession, begin_service_transaction, format_lock_timeout};
use crate::database::statement::Statement;
use crate::error::{StorageError, UniqueKey};
use crate::identity::Owner;
use crate::request::object_path::ObjectPath;
use crate::state::Storage;
use crate::versions::{list_null_versions, list_null_versions_within};

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

/// Creates the object of a key that has none, and nothing else: of two writers the second waits for the first one, and then finds its row.
const INSERT_IF_ABSENT: &str = concat!(
    insert_in_transaction!(),
    "on conflict (bucket_id, name) do nothing returning ",
    object_columns!(),
);

/// Limits the wait for another writer of the same key.
const LIMIT_WAIT: &str = "select pg_catalog.set_config('lock_timeout', $1, true)";

/// Locks the object of a key, against other writers, moves, deletions and SQL of the application.
const OLD_VERSION: &str =
    "select version from only storage.objects where bucket_id = $1 and name = $2 for update";

/// How often a write looks for the object again that appeared or disappeared between two of its statements.
const MAX_ATTEMPTS: usize = 20;

/// What is checked again when the bytes of an upload are there: whether its caller may still write the object, and whether the bucket still takes
/// it.
pub(crate) struct CommitChecks {
    /// The question that was asked before; `None` when an upload token stands for the answer.
    pub(crate) asked: Option<AskedWrite>,
    /// Whether a bucket's limit of 0 bytes means none, as it does for resumable uploads.
    pub(crate) zero_is_unlimited: bool,
}

impl CommitChecks {
    pub(crate) fn of(session: &DbSession, intent: &WriteIntent<'_>) -> Self {
        Self {
            asked: Some(AskedWrite::new(session, intent)),
            zero_is_unlimited: false,
        }
    }

    fn check_limits(&self, storage: &Storage, bucket: &Bucket, new: &NewRow) -> Result<(), StorageError> {
        let own_limit = bucket
            .file_size_limit
            .filter(|limit| *limit != 0 || !self.zero_is_unlimited);
        let bucket = Bucket {
            file_size_limit: own_limit,
            ..bucket.clone()
        };
        let limits = bucket.limits(storage, &new.target.key);
        let declared = new.metadata.get("mimetype").and_then(Value::as_str);
        declared.map_or(Ok(()), |declared| limits.check_type(declared))?;
        limits.check_size(new.metadata.get("size").and_then(Value::as_u64))
    }
}

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
    /// `None` for objects that the server itself writes.
    pub(crate) checks: Option<CommitChecks>,
}

/// The parts of a [`NewObject`] that become columns.
struct NewRow {
    target: ObjectPath,
    owner: Owner,
    metadata: Value,
    user_metadata: Option<Value>,
    version: Version,
    upsert: bool,
    checks: Option<CommitChecks>,
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
            checks: self.checks,
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
            insert_row(&service, &new).await.map(Some)
        }
    };
    let written = blob.commit(write).await?;
    let Written { row, replaced } = written.ok_or(StorageError::NoSuchKey)?;
    discard_replaced(service.storage(), &replaced, new.version);
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
        let written = write_in_transaction(storage, transaction, &new).await?;
        Ok(Some((done, written.replaced)))
    };
    let written = blob.commit(write).await?;
    let Some((done, replaced)) = written else {
        return Ok(None);
    };
    discard_replaced(storage, &replaced, new.version);
    Ok(Some(done))
}

/// An object that was written.
struct Written {
    row: ObjectRow,
    /// The version that the key had before, and what else has lost its row.
    replaced: Vec<Version>,
}

/// Removes the bytes of what was replaced. Never those of the row as it is now, whatever led to equal versions.
fn discard_replaced(storage: &Storage, replaced: &[Version], new: Version) {
    for old in replaced.iter().filter(|old| **old != new) {
        storage.discard_blob(*old);
    }
}

/// A connection for a transaction of several statements.
///
/// # Errors
/// When none becomes free.
pub(crate) async fn connect(storage: &Storage) -> Result<Client, StorageError> {
    storage
        .transactions()
        .get()
        .await
        .map_err(StorageError::from_pool)
}

/// Inserts the row after asking again. No object can be replaced, so the answer need not come from the same transaction.
async fn insert_row(service: &DbSession, object: &NewRow) -> Result<Written, StorageError> {
    let mut replaced = Vec::new();
    if let Some(checks) = &object.checks {
        let ask = async {
            match &checks.asked {
                Some(asked) => asked.ask(&object.target, false).await,
                None => Ok(()),
            }
        };
        let bucket = find_bucket(service, &object.target.bucket);
        let ((), bucket) = futures_util::try_join!(ask, bucket)?;
        checks.check_limits(service.storage(), &bucket, object)?;
        if bucket.is_paused {
            let ObjectPath { bucket, key } = &object.target;
            replaced = list_null_versions(service, bucket, &[key]).await?;
        }
    }
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
    let row = ObjectRow::read(rows.first().ok_or(StorageError::NoSuchKey)?)?;
    Ok(Written { row, replaced })
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
    let replaced = written.map(|written| written.replaced).unwrap_or_default();
    discard_replaced(storage, &replaced, new.version);
    Ok(())
}

/// Inserts the row, or replaces it where that is allowed, and commits.
async fn write_in_transaction(
    storage: &Storage,
    mut transaction: Transaction<'_>,
    object: &NewRow,
) -> Result<Written, StorageError> {
    if object.upsert {
        limit_wait(storage, &transaction).await?;
    }
    for _ in 0..MAX_ATTEMPTS {
        let old = if object.upsert {
            lock_object(&transaction, &object.target).await?
        } else {
            None
        };
        // Asked under the lock: the policies decide about the very row that is replaced.
        let is_paused = check_again(storage, &mut transaction, object).await?;
        let mut replaced = match is_paused {
            true => list_null_versions_within(&transaction, &object.target).await?,
            false => Vec::new(),
        };
        let sql = match (object.upsert, &old) {
            (false, _) => INSERT_IN_TRANSACTION,
            (true, None) => INSERT_IF_ABSENT,
            (true, Some(_)) => UPSERT,
        };
        // No row means that another writer has created the object meanwhile, which is locked and judged in the next turn.
        if let Some(row) = write_row_of(&transaction, object, sql).await? {
            let end = transaction.commit().await;
            end.map_err(|error| StorageError::from_commit(error, UniqueKey::Object))?;
            replaced.extend(old.flatten().as_deref().and_then(Version::parse));
            return Ok(Written { row, replaced });
        }
    }
    Err(StorageError::LockTimeout)
}

/// Checks rights and limits once more. Returns whether the bucket has paused its versioning; for objects of the server itself false, whose
/// bytes a sweep removes.
async fn check_again(
    storage: &Storage,
    transaction: &mut Transaction<'_>,
    object: &NewRow,
) -> Result<bool, StorageError> {
    let Some(checks) = &object.checks else {
        return Ok(false);
    };
    let bucket = find_bucket_within(transaction, &object.target.bucket).await?;
    checks.check_limits(storage, &bucket, object)?;
    if let Some(asked) = &checks.asked {
        asked
            .ask_within(transaction, &object.target, object.upsert)
            .await?;
    }
    Ok(bucket.is_paused)
}

async fn write_row_of(
    transaction: &Transaction<'_>,
    object: &NewRow,
    sql: &str,
) -> Result<Option<ObjectRow>, StorageError> {
    let statement = transaction.prepare_cached(sql).await.map_err(map_error)?;
    let version = object.version.to_string();
    let metadata = object.metadata.to_string();
    let user_metadata = object.user_metadata.as_ref().map(Value::to_string);
    let owner = object.owner.uuid();
    let row = transaction
        .query_opt(
            &statement,
            &[
                &object.target.bucket,
                &object.target.key,
                &owner,
                &object.owner.id,
                &version,
                &metadata,
                &user_metadata,
            ],
        )
        .await
        .map_err(map_locked)?;
    row.as_ref().map(ObjectRow::read).transpose()
}

/// Ends the transaction's waits for other writers after `object_lock_timeout`.
///
/// # Errors
/// PostgreSQL's error.
pub(crate) async fn limit_wait(storage: &Storage, transaction: &Transaction<'_>) -> Result<(), StorageError> {
    let timeout = format_lock_timeout(storage.config().object_lock_timeout);
    let statement = transaction.prepare_cached(LIMIT_WAIT).await.map_err(map_error)?;
    transaction
        .execute(&statement, &[&timeout])
        .await
        .map_err(map_error)?;
    Ok(())
}

/// Locks the object of a key for the rest of the transaction; returns its version, which may be null, if there is one.
///
/// # Errors
/// `LockTimeout` when another writer holds the key for longer than `object_lock_timeout`.
async fn lock_object(
    transaction: &Transaction<'_>,
    target: &ObjectPath,
) -> Result<Option<Option<String>>, StorageError> {
    let old_version = transaction.prepare_cached(OLD_VERSION).await.map_err(map_error)?;
    let old = transaction
        .query_opt(&old_version, &[&target.bucket, &target.key])
        .await
        .map_err(map_locked)?;
    old.map(|row| row.try_get(0).map_err(StorageError::internal))
        .transpose()
}

fn map_error(error: tokio_postgres::Error) -> StorageError {
    StorageError::from_tokio_postgres(error, UniqueKey::Object)
}

/// Maps an error of a statement that waits for other writers of the key.
fn map_locked(error: tokio_postgres::Error) -> StorageError {
    match map_error(error) {
        StorageError::ResourceLocked => StorageError::LockTimeout,
        other => other,
    }
}
