//! Gives up all unfinished uploads of a bucket, when it is emptied or deleted.

use selvedge_postgres::Row;
use uuid::Uuid;

use crate::backend::Version;
use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::StorageError;

/// Uploads that one transaction removes. One S3 upload may have 10 000 parts.
macro_rules! delete_uploads {
    ($uploads:literal, $id:literal, $condition:literal, $parts:literal, $upload_of_part:literal, $blob:literal) => {
        concat!(
            "with removed as (delete from ",
            $uploads,
            " as u where u.",
            $id,
            " in (select c.",
            $id,
            " from ",
            $uploads,
            " as c where c.bucket_id = $1 and ",
            $condition,
            " and ($2::timestamptz is null or c.created_at <= $2::timestamptz) limit 20) returning u.",
            $id,
            ") select p.",
            $blob,
            " as blob from removed left join ",
            $parts,
            " as p on p.",
            $upload_of_part,
            " = removed.",
            $id
        )
    };
}

/// The rows of parts are deleted by cascade. The outer SELECT still sees them, because all parts of a statement share one
/// snapshot.
const DELETE_MULTIPART: &str = delete_uploads!(
    "storage.s3_multipart_uploads",
    "id",
    "true",
    "storage.s3_multipart_uploads_parts",
    "upload_id",
    "id"
);

/// As [`DELETE_MULTIPART`]. Rows of completed uploads stay, for clients that ask again.
const DELETE_RESUMABLE: &str = delete_uploads!(
    "storage.resumable_uploads",
    "version",
    "c.completed_at is null",
    "storage.resumable_pieces",
    "upload",
    "version"
);

/// Removes the unfinished uploads of a bucket and their bytes; with `before`, a time as PostgreSQL prints it, only those that
/// were begun until then. A request that sends bytes to one of them meanwhile finds no upload. `service` is a session of the
/// service.
///
/// # Errors
/// PostgreSQL's error, mapped to a [`StorageError`]. What was removed before it stays removed.
pub(crate) async fn abort_uploads(
    service: &DbSession,
    bucket: &str,
    before: Option<&str>,
) -> Result<(), StorageError> {
    abort(service, DELETE_MULTIPART, bucket, before).await?;
    abort(service, DELETE_RESUMABLE, bucket, before).await
}

/// As [`abort_uploads`], only those of the S3 protocol, whose rows refer to their bucket and so keep it from being deleted.
///
/// # Errors
/// As [`abort_uploads`].
pub(crate) async fn abort_multipart_uploads(service: &DbSession, bucket: &str) -> Result<(), StorageError> {
    abort(service, DELETE_MULTIPART, bucket, None).await
}

async fn abort(
    service: &DbSession,
    delete: &'static str,
    bucket: &str,
    before: Option<&str>,
) -> Result<(), StorageError> {
    loop {
        let statement = Statement::new(delete).bind(bucket).bind_optional(before);
        let session = service.clone();
        // A separate task, so that a disconnected client cannot leave blobs whose rows were deleted.
        let deletion = actix_web::rt::spawn(async move {
            let rows = session.write(statement).await?;
            for version in rows.iter().filter_map(|row| find_blob(row).transpose()) {
                session.storage().discard_piece(version?);
            }
            Ok::<_, StorageError>(rows.is_empty())
        });
        if deletion.await.map_err(StorageError::internal)?? {
            return Ok(());
        }
    }
}

/// The blob of a part; `None` in the row of an upload without parts.
fn find_blob(row: &Row) -> Result<Option<Version>, StorageError> {
    let blob: Option<Uuid> = row.try_get("blob").map_err(StorageError::internal)?;
    Ok(blob.map(Version::from_uuid))
}
