//! Looks up a version of an object under the session's role.

use crate::database::object_row::{ObjectRow, object_columns};
use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::request::object_path::ObjectPath;

const VERSION: &str = concat!(
    "select ",
    object_columns!(),
    " from storage.objects o where o.bucket_id = $1 and o.name = $2 and o.version = $3 and not o.is_delete_marker"
);

const NULL_VERSION: &str = concat!(
    "select ",
    object_columns!(),
    " from storage.objects o where o.bucket_id = $1 and o.name = $2 and not o.is_versioned and not o.is_delete_marker"
);

const NULL_VERSION_ID: &str =
    "select o.version from storage.objects o where o.bucket_id = $1 and o.name = $2 and not o.is_versioned";

/// The id of a version. Objects that SQL has written without one have none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VersionId(pub(crate) Option<String>);

/// The version of this id, current or not; the policies decide about its very row.
///
/// # Errors
/// `NoSuchKey`, also for a marker and for what a policy hides.
pub(crate) async fn find_version(
    session: &DbSession,
    target: &ObjectPath,
    version: &str,
) -> Result<ObjectRow, StorageError> {
    let statement = Statement::new(VERSION)
        .bind(&target.bucket)
        .bind(&target.key)
        .bind(version);
    find(session, statement).await
}

/// The version that was written while its bucket kept none, which S3 calls `null`.
///
/// # Errors
/// Those of [`find_version`].
pub(crate) async fn find_null_version(
    session: &DbSession,
    target: &ObjectPath,
) -> Result<ObjectRow, StorageError> {
    let statement = Statement::new(NULL_VERSION)
        .bind(&target.bucket)
        .bind(&target.key);
    find(session, statement).await
}

/// The id of the row that was written while the bucket kept no versions, also of a marker; `None` where the key has no such row. As the
/// service.
///
/// # Errors
/// PostgreSQL's error.
pub(crate) async fn find_null_version_id(
    service: &DbSession,
    target: &ObjectPath,
) -> Result<Option<VersionId>, StorageError> {
    let statement = Statement::new(NULL_VERSION_ID)
        .bind(&target.bucket)
        .bind(&target.key);
    let rows = service.read(statement).await?;
    let row = rows.first();
    let id = row.map(|row| row.try_get("version").map(VersionId));
    id.transpose().map_err(StorageError::internal)
}

async fn find(session: &DbSession, statement: Statement) -> Result<ObjectRow, StorageError> {
    let rows = session.with_versions().read(statement).await?;
    ObjectRow::read(rows.first().ok_or(StorageError::NoSuchKey)?)
}
