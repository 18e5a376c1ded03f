//! Removes the versions that the rules of their buckets say are old enough. Source: STORE-235, STORE-236.

use crate::backend::Version;
use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::StorageError;

const BUCKETS: &str =
    "select b.id from storage.buckets b where b.lifecycle_configuration is not null order by b.id";

const EXPIRE: &str = include_str!("../sql/expire_versions.sql");

/// Removes them, rows before bytes. Several nodes may do so at the same time: each skips what another one removes. What fails in one
/// bucket does not keep those of others.
///
/// # Errors
/// PostgreSQL's error, where the buckets cannot be listed.
pub(crate) async fn expire_versions(service: &DbSession) -> Result<(), StorageError> {
    for row in service.read(Statement::new(BUCKETS)).await? {
        let bucket: String = row.try_get("id").map_err(StorageError::internal)?;
        match expire_versions_of(service, &bucket).await {
            Ok(0) => {}
            Ok(count) => {
                tracing::info!(%bucket, count, "removed old versions of objects by the rules of their bucket");
            }
            Err(error) => tracing::warn!(%error, %bucket, "old versions of objects could not be removed"),
        }
    }
    Ok(())
}

/// Goes through the versions of a bucket by age, in batches, each of which goes on where the one before ended: a version that rules keep is
/// examined once. Returns how many were removed; earlier batches stay removed after an error.
async fn expire_versions_of(service: &DbSession, bucket: &str) -> Result<u64, StorageError> {
    let (mut archived_at, mut id): (Option<String>, Option<String>) = (None, None);
    let mut removed = 0;
    loop {
        let statement = Statement::new(EXPIRE)
            .bind(bucket)
            .bind_optional(archived_at.as_deref())
            .bind_optional(id.as_deref());
        let rows = service.write(statement).await?;
        let Some(last) = rows.last() else {
            return Ok(removed);
        };
        archived_at = last.try_get("archived_at").map_err(StorageError::internal)?;
        id = last.try_get("id").map_err(StorageError::internal)?;
        for row in &rows {
            let is_removed: bool = row.try_get("is_removed").map_err(StorageError::internal)?;
            if !is_removed {
                continue;
            }
            removed += 1;
            let version: Option<String> = row.try_get("version").map_err(StorageError::internal)?;
            if let Some(version) = version.as_deref().and_then(Version::parse) {
                service.storage().discard_blob(version);
            }
        }
    }
}
