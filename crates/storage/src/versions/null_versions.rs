//! Superseded versions that a write removes while versioning is paused: what was archived from the slot that a key has for content without
//! versioning. Triggers remove their rows; whoever writes lists them before, and hands their bytes to the deleter afterwards, which keeps
//! those that still have a row. The bytes of what SQL removes so are left to the next sweep.

use deadpool_postgres::Transaction;
use serde_json::json;

use crate::backend::Version;
use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::{StorageError, UniqueKey};
use crate::request::object_path::ObjectPath;
use crate::state::Storage;

const OF_KEYS: &str = "select h.version from storage.object_history h where h.bucket_id = $1 \
     and h.name = any (array(select jsonb_array_elements_text($2::jsonb))) and not h.is_versioned and not h.is_delete_marker";

const OF_KEY: &str = "select h.version from storage.object_history h where h.bucket_id = $1 and h.name = $2 \
     and not h.is_versioned and not h.is_delete_marker";

/// The versions in the slots of keys of a bucket.
///
/// # Errors
/// PostgreSQL's error.
pub(crate) async fn list_null_versions(
    service: &DbSession,
    bucket: &str,
    keys: &[&str],
) -> Result<Vec<Version>, StorageError> {
    let statement = Statement::new(OF_KEYS).bind(bucket).bind(json!(keys).to_string());
    let rows = service.read(statement).await?;
    let versions = rows.iter().map(|row| row.try_get::<_, Option<String>>(0));
    let versions = versions.collect::<Result<Vec<_>, _>>();
    let versions = versions.map_err(StorageError::internal)?;
    Ok(parse_versions(versions))
}

/// The same of one key, as a transaction of the service sees it.
///
/// # Errors
/// PostgreSQL's error.
pub(crate) async fn list_null_versions_within(
    transaction: &Transaction<'_>,
    target: &ObjectPath,
) -> Result<Vec<Version>, StorageError> {
    let map_error = |error| StorageError::from_tokio_postgres(error, UniqueKey::Other);
    let statement = transaction.prepare_cached(OF_KEY).await.map_err(map_error)?;
    let rows = transaction
        .query(&statement, &[&target.bucket, &target.key])
        .await
        .map_err(map_error)?;
    let versions = rows.iter().map(|row| row.try_get::<_, Option<String>>(0));
    let versions = versions.collect::<Result<Vec<_>, _>>();
    Ok(parse_versions(versions.map_err(StorageError::internal)?))
}

fn parse_versions(texts: Vec<Option<String>>) -> Vec<Version> {
    let texts = texts.iter().flatten();
    texts.filter_map(|text| Version::parse(text)).collect()
}

/// Removes the bytes of versions after the write that has removed their rows.
pub(crate) fn discard_null_versions(storage: &Storage, versions: &[Version]) {
    for version in versions {
        storage.discard_blob(*version);
    }
}
