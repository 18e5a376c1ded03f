//! The blobs that rows refer to, for backups.

use futures_util::TryStreamExt as _;
use tokio_postgres::GenericClient;

use super::sweep::{AFTER_ALL_VERSIONS, HAS_RESUMABLE, RANGE, RESUMABLE_RANGE};
use crate::backend::Version;

/// A blob that a row refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobReference {
    /// Version by which the blob is stored.
    pub version: Version,
    /// `bucket/key` of its object; `None` for a part of an unfinished upload, which may have no blob yet.
    pub object: Option<String>,
}

/// Prevents other sessions from adding or removing references until the transaction of `client` ends. Reading stays
/// possible.
///
/// # Errors
/// Those of the database, such as a lock that others do not release within `lock_timeout`.
pub async fn lock_blob_references(client: &impl GenericClient) -> Result<(), tokio_postgres::Error> {
    let mut tables = "storage.objects, storage.s3_multipart_uploads_parts".to_owned();
    if has_resumable_uploads(client).await? {
        tables += ", storage.resumable_pieces, storage.resumable_uploads";
    }
    let lock = format!("lock table {tables} in share mode");
    client.batch_execute(&lock).await
}

/// Calls `visit` for each blob that a row refers to. Rows are streamed, so that memory stays constant.
///
/// # Errors
/// Those of the database.
pub async fn visit_blob_references(
    client: &impl GenericClient,
    mut visit: impl FnMut(BlobReference),
) -> Result<(), tokio_postgres::Error> {
    let ranges: &[&str] = match has_resumable_uploads(client).await? {
        true => &[RANGE, RESUMABLE_RANGE],
        false => &[RANGE],
    };
    for range in ranges {
        let rows = client.query_raw(*range, ["", AFTER_ALL_VERSIONS]).await?;
        let mut rows = std::pin::pin!(rows);
        while let Some(row) = rows.try_next().await? {
            let (version, bucket, key): (String, Option<String>, Option<String>) =
                (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            // A version that is not a UUID was written by SQL, and never had a blob.
            if let Some(version) = Version::parse(&version) {
                let object = bucket.zip(key).map(|(bucket, key)| format!("{bucket}/{key}"));
                visit(BlobReference { version, object });
            }
        }
    }
    Ok(())
}

async fn has_resumable_uploads(client: &impl GenericClient) -> Result<bool, tokio_postgres::Error> {
    client.query_one(HAS_RESUMABLE, &[]).await?.try_get(0)
}
