//! Deletes objects by their keys. In a bucket with versions that leaves markers, which are what the caller gets to know.

use std::collections::HashSet;

use deadpool_postgres::Transaction;
use serde_json::json;
use uuid::Uuid;

use super::null_versions::{discard_null_versions, list_null_versions};
use crate::database::deadlock::repeat_after_deadlock;
use crate::database::object_row::{ObjectRow, object_columns};
use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::{StorageError, UniqueKey};
use crate::object::commit::{connect, limit_wait};
use crate::object::lookup::find_bucket;
use crate::request::object_path::ObjectPath;

const DELETE: &str = concat!(
    "delete from only storage.objects o where o.bucket_id = $1 ",
    "and o.name = any (array(select jsonb_array_elements_text($2::jsonb))) returning ",
    object_columns!(),
);

const MARKERS: &str = concat!(
    "select ",
    object_columns!(),
    " from only storage.object_history o where o.bucket_id = $1 ",
    "and o.name = any (array(select jsonb_array_elements_text($2::jsonb))) and o.archived_at is null",
);

/// Keys among `$2` that have an object.
const SELECT_CURRENT_NAMES: &str = "select o.name from only storage.objects o where o.bucket_id = $1 \
     and o.name = any (array(select jsonb_array_elements_text($2::jsonb)))";

const MARK: &str = concat!(
    "select ",
    object_columns!(),
    " from storage.mark_missing_objects($1, $2, $3) o"
);

/// Whether a policy lets the role `$1` delete any object, or it needs none.
const MAY_DELETE_SOME: &str = "select exists (select from pg_catalog.pg_roles r where r.rolname = $1 \
     and (r.rolsuper or r.rolbypassrls or exists (select from pg_catalog.pg_policy p \
     where p.polrelid = 'storage.objects'::pg_catalog.regclass and p.polpermissive and p.polcmd in ('d', '*') \
     and exists (select from pg_catalog.unnest(p.polroles) as member (role) \
     where member.role = 0 or pg_catalog.pg_has_role(r.oid, member.role, 'member')))))";

/// The owner of a marker is whom the claims name.
const SET_CLAIMS: &str = "select pg_catalog.set_config('request.jwt.claims', $1, true)";

/// Subject to the policies for SELECT and DELETE on the markers.
const TRY_DELETE: &str = "select storage.delete_in_order($1)";

/// Deletes the objects of these keys that the caller may delete. Returns their rows, and in a bucket with versions the markers in
/// their places, also those of keys that have no object. Source: STORE-019, STORE-208, STORE-213.
///
/// # Errors
/// PostgreSQL's error.
pub(crate) async fn delete_keys(
    caller: &DbSession,
    service: &DbSession,
    bucket: &str,
    keys: &[String],
) -> Result<Vec<ObjectRow>, StorageError> {
    let (has_versions, is_paused) = match find_bucket(service, bucket).await {
        Ok(bucket) => (bucket.has_versions, bucket.is_paused),
        Err(StorageError::NoSuchBucket) => (false, false),
        Err(error) => return Err(error),
    };
    let superseded = match is_paused {
        true => {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            list_null_versions(service, bucket, &keys).await?
        }
        false => Vec::new(),
    };
    let statement = Statement::new(DELETE).bind(bucket).bind(json!(keys).to_string());
    let rows = caller.delete_objects(statement).await?;
    discard_null_versions(service.storage(), &superseded);
    let deleted = rows.iter().map(ObjectRow::read);
    let deleted = deleted.collect::<Result<Vec<_>, _>>()?;
    if !has_versions {
        return Ok(deleted);
    }
    mark_keys(caller, service, bucket, keys, &deleted).await
}

/// The markers of keys whose objects were deleted, and of those that had none, where the caller may make one.
async fn mark_keys(
    caller: &DbSession,
    service: &DbSession,
    bucket: &str,
    keys: &[String],
    deleted: &[ObjectRow],
) -> Result<Vec<ObjectRow>, StorageError> {
    let names: Vec<&str> = deleted.iter().map(|row| row.name.as_str()).collect();
    let mut markers = find_markers(service, bucket, &names).await?;
    let mut seen: HashSet<&str> = names.into_iter().collect();
    let live = list_live(service, bucket, keys).await?;
    let mut missing = Vec::new();
    for key in keys {
        let target = ObjectPath {
            bucket: bucket.to_owned(),
            key: key.clone(),
        };
        // What no upload may be called needs no marker.
        if seen.insert(key.as_str()) && !live.contains(key) && target.check_names().is_ok() {
            missing.push(target.key);
        }
    }
    if !missing.is_empty() && may_delete_some(caller, service).await? {
        markers.extend(mark_missing_keys(caller, service, bucket, missing).await?);
    }
    Ok(markers)
}

/// Whether it makes sense to ask about single keys: strangers must not make the database work for each key that they think of.
async fn may_delete_some(caller: &DbSession, service: &DbSession) -> Result<bool, StorageError> {
    let statement = Statement::new(MAY_DELETE_SOME).bind(caller.identity().role());
    let rows = service.read(statement).await?;
    let row = rows.first();
    let answer = row.map_or(Ok(false), |row| row.try_get(0));
    answer.map_err(StorageError::internal)
}

async fn find_markers(
    service: &DbSession,
    bucket: &str,
    names: &[&str],
) -> Result<Vec<ObjectRow>, StorageError> {
    let statement = Statement::new(MARKERS)
        .bind(bucket)
        .bind(json!(names).to_string());
    let rows = service.read(statement).await?;
    rows.iter().map(ObjectRow::read).collect()
}

async fn list_live(
    service: &DbSession,
    bucket: &str,
    keys: &[String],
) -> Result<HashSet<String>, StorageError> {
    let statement = Statement::new(SELECT_CURRENT_NAMES)
        .bind(bucket)
        .bind(json!(keys).to_string());
    let rows = service.read(statement).await?;
    let names = rows.iter().map(|row| row.try_get::<_, String>(0));
    names.collect::<Result<_, _>>().map_err(StorageError::internal)
}

/// Marks keys without an object as deleted where the caller may delete the marker, and returns the markers; where a key is deleted already,
/// the one that it has. All in one transaction, and the bucket is not locked before the policies were asked. Runs as a separate task, so that it
/// completes when the client disconnects.
///
/// # Errors
/// `LockTimeout` when others hold the keys or the bucket for longer than `object_lock_timeout`; nothing has changed then.
async fn mark_missing_keys(
    caller: &DbSession,
    service: &DbSession,
    bucket: &str,
    keys: Vec<String>,
) -> Result<Vec<ObjectRow>, StorageError> {
    let (caller, service, bucket) = (caller.with_versions(), service.clone(), bucket.to_owned());
    let marking = actix_web::rt::spawn(async move {
        let mut client = connect(service.storage()).await?;
        // The questions about keys lock them in the order of their names, and a deletion beside them in the order of its plan.
        repeat_after_deadlock(async || {
            let transaction = service.transaction(&mut client).await?;
            mark_in_transaction(&caller, &service, transaction, &bucket, &keys).await
        })
        .await
    });
    marking.await.map_err(StorageError::internal)?
}

async fn mark_in_transaction(
    caller: &DbSession,
    service: &DbSession,
    mut transaction: Transaction<'_>,
    bucket: &str,
    keys: &[String],
) -> Result<Vec<ObjectRow>, StorageError> {
    limit_wait(service.storage(), &transaction).await?;
    let claims = caller.identity().claims_json();
    let claimed = transaction.execute(SET_CLAIMS, &[&claims]).await;
    claimed.map_err(map_error)?;
    let keys = ask(caller, &mut transaction, bucket, keys).await?;
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let markers = mark(&transaction, bucket, &keys, true).await?;
    let end = transaction.commit().await;
    end.map_err(|error| StorageError::from_commit(error, UniqueKey::Other))?;
    Ok(markers)
}

/// The keys whose markers the policies let the caller delete. Asks by making them, deleting them as the caller, and going back.
async fn ask(
    caller: &DbSession,
    transaction: &mut Transaction<'_>,
    bucket: &str,
    keys: &[String],
) -> Result<Vec<String>, StorageError> {
    let savepoint = transaction.savepoint("asked").await.map_err(map_error)?;
    let mut markers = mark(&savepoint, bucket, keys, false).await?;
    markers.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    let ids: Vec<Uuid> = markers.iter().map(|marker| marker.id).collect();
    caller.become_caller(&savepoint).await?;
    let asked = savepoint.query(TRY_DELETE, &[&ids]).await;
    savepoint.rollback().await.map_err(map_error)?;
    let rows = asked.map_err(map_error)?;
    let names = rows.iter().map(|row| row.try_get(0));
    names.collect::<Result<_, _>>().map_err(StorageError::internal)
}

async fn mark(
    transaction: &Transaction<'_>,
    bucket: &str,
    keys: &[String],
    for_good: bool,
) -> Result<Vec<ObjectRow>, StorageError> {
    let statement = transaction.prepare_cached(MARK).await.map_err(map_error)?;
    let rows = transaction
        .query(&statement, &[&bucket, &keys, &for_good])
        .await
        .map_err(map_error)?;
    rows.iter().map(ObjectRow::read).collect()
}

/// Maps an error of a statement that may wait for other writers of these keys, or of the bucket.
fn map_error(error: tokio_postgres::Error) -> StorageError {
    match StorageError::from_tokio_postgres(error, UniqueKey::Other) {
        StorageError::ResourceLocked => StorageError::LockTimeout,
        other => other,
    }
}
