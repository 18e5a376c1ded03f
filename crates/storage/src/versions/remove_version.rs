//! Removes a version for good: the row, and then its bytes. If it was the current state of its key, the newest of the others becomes
//! current: to remove a marker undeletes the object, to remove the newest version goes back one.

use deadpool_postgres::Transaction;

use crate::database::object_row::{ObjectRow, object_columns};
use crate::database::session::DbSession;
use crate::error::{StorageError, UniqueKey};
use crate::object::commit::{connect, limit_wait};
use crate::request::object_path::ObjectPath;

/// Subject to the policies for SELECT and DELETE on the row of the version.
const TRY_DELETE: &str = "delete from storage.objects o where o.bucket_id = $1 and o.name = $2 \
     and o.version is not distinct from $3 returning o.id";

/// Where the row of a version is. Whoever replaces or restores it moves it to the other table.
const PLACE: &str = "select pg_catalog.concat(o.tableoid, ' ', o.ctid) from storage.objects o \
     where o.bucket_id = $1 and o.name = $2 and o.version is not distinct from $3 limit 1";

const REMOVE: &str = concat!(
    "select ",
    object_columns!(),
    " from storage.remove_object_version($1, $2, $3) o"
);

/// How often the policies are asked about a row that others keep moving.
const MAX_ATTEMPTS: usize = 5;

/// What became of a version that was to be removed.
#[derive(Debug)]
pub(crate) enum Removal {
    Removed(Box<ObjectRow>),
    /// The policies do not let the caller delete it.
    Denied,
    /// There is no such version, or none any more.
    Missing,
}

impl Removal {
    /// The removed row.
    ///
    /// # Errors
    /// `NoSuchKey`; `AccessDenied`.
    pub(crate) fn into_row(self) -> Result<ObjectRow, StorageError> {
        match self {
            Self::Removed(row) => Ok(*row),
            Self::Denied => Err(StorageError::AccessDenied("Access denied".to_owned())),
            Self::Missing => Err(StorageError::NoSuchKey),
        }
    }
}

/// Removes the version as the caller. `None` is the id of objects that SQL has written without one. Runs as a separate task, so that it
/// completes when the client disconnects.
///
/// # Errors
/// PostgreSQL's error.
pub(crate) async fn remove_version(
    caller: &DbSession,
    service: &DbSession,
    target: &ObjectPath,
    version: Option<&str>,
) -> Result<Removal, StorageError> {
    let (caller, service) = (caller.with_versions(), service.clone());
    let (target, version) = (target.clone(), version.map(str::to_owned));
    let removal = actix_web::rt::spawn(async move {
        let mut client = connect(service.storage()).await?;
        for _ in 0..MAX_ATTEMPTS {
            let transaction = service.transaction(&mut client).await?;
            let removal = remove_once(&caller, &service, transaction, &target, version.as_deref()).await?;
            if let Some(removal) = removal {
                return Ok(removal);
            }
        }
        Err(StorageError::LockTimeout)
    });
    removal.await.map_err(StorageError::internal)?
}

/// `None` when the row of the version was moved while the policies were asked about it.
async fn remove_once(
    caller: &DbSession,
    service: &DbSession,
    mut transaction: Transaction<'_>,
    target: &ObjectPath,
    version: Option<&str>,
) -> Result<Option<Removal>, StorageError> {
    limit_wait(service.storage(), &transaction).await?;
    let Some(place) = find_place(&transaction, target, version).await? else {
        return Ok(Some(Removal::Missing));
    };
    if !may_delete(caller, &mut transaction, target, version).await? {
        let is_there = find_place(&transaction, target, version).await? == Some(place);
        return Ok(is_there.then_some(Removal::Denied));
    }
    let Some(removed) = remove_asked(&transaction, target, version).await? else {
        return Ok(None);
    };
    let end = transaction.commit().await;
    end.map_err(|error| StorageError::from_commit(error, UniqueKey::Other))?;
    if let Some(bytes) = removed.blob_version() {
        service.storage().discard_blob(bytes);
    }
    Ok(Some(Removal::Removed(Box::new(removed))))
}

async fn find_place(
    transaction: &Transaction<'_>,
    target: &ObjectPath,
    version: Option<&str>,
) -> Result<Option<String>, StorageError> {
    let statement = transaction.prepare_cached(PLACE).await.map_err(map_error)?;
    let row = transaction
        .query_opt(&statement, &[&target.bucket, &target.key, &version])
        .await
        .map_err(map_error)?;
    row.map(|row| row.try_get(0).map_err(StorageError::internal))
        .transpose()
}

/// Asks the policies by deleting the row and going back.
async fn may_delete(
    caller: &DbSession,
    transaction: &mut Transaction<'_>,
    target: &ObjectPath,
    version: Option<&str>,
) -> Result<bool, StorageError> {
    let savepoint = transaction.savepoint("asked").await.map_err(map_error)?;
    caller.become_caller(&savepoint).await?;
    let statement = savepoint.prepare_cached(TRY_DELETE).await.map_err(map_error)?;
    let asked = savepoint
        .query(&statement, &[&target.bucket, &target.key, &version])
        .await;
    savepoint.rollback().await.map_err(map_error)?;
    Ok(!asked.map_err(map_error)?.is_empty())
}

/// Removes a version after the policies were asked; `None` when it is gone.
async fn remove_asked(
    transaction: &Transaction<'_>,
    target: &ObjectPath,
    version: Option<&str>,
) -> Result<Option<ObjectRow>, StorageError> {
    let statement = transaction.prepare_cached(REMOVE).await.map_err(map_error)?;
    let row = transaction
        .query_opt(&statement, &[&target.bucket, &target.key, &version])
        .await
        .map_err(map_error)?;
    row.as_ref().map(ObjectRow::read).transpose()
}

fn map_error(error: tokio_postgres::Error) -> StorageError {
    match StorageError::from_tokio_postgres(error, UniqueKey::Other) {
        StorageError::ResourceLocked => StorageError::LockTimeout,
        other => other,
    }
}
