//! Multipart uploads: each part is a blob of its own whose name is the id of its row; completion joins them.
//!
//! Rows live in `storage.s3_multipart_uploads` and `…_parts`, which only the service writes; whether the caller may go on
//! is asked at each step by the probe of an upload. A part without a row, or a row's blob after an abort, is an orphan like
//! any other.

mod complete_upload;
mod create_upload;
mod list;
mod upload_part;

use selvedge_postgres::Row;
use serde_json::Value;
use uuid::Uuid;

pub(super) use complete_upload::complete_upload;
pub(super) use create_upload::{abort_upload, create_upload};
pub(super) use list::{list_parts, list_uploads};
pub(super) use upload_part::{upload_part, upload_part_copy};

use super::error::S3Error;
use super::{S3Call, check_target};
use crate::backend::Version;
use crate::error::StorageError;
use crate::identity::Owner;
use crate::object::probe::{self, Intent};
use crate::object_row::Declared;
use crate::route::ObjectPath;
use crate::session::Statement;

/// Part numbers reach from 1 to this.
const PARTS_MAX: i32 = 10_000;

const FIND: &str = "select u.id, u.in_progress_size, u.owner_id, u.metadata, u.user_metadata \
     from storage.s3_multipart_uploads u where u.id = $1 and u.bucket_id = $2 and u.key = $3";

/// An upload that is under way.
struct Upload {
    id: String,
    owner: Owner,
    declared: Declared,
    user_metadata: Value,
}

impl Upload {
    /// The upload that the query names, if the caller may still write its object.
    ///
    /// # Errors
    /// `NoSuchUpload`, `AccessDenied`.
    async fn find(call: &S3Call, target: &ObjectPath) -> Result<Self, S3Error> {
        Self::find_for(call, target, 0).await
    }

    /// The same for a request that brings so many bytes more. Policies see the size that the object has so far.
    ///
    /// # Errors
    /// As [`Self::find`].
    async fn find_for(call: &S3Call, target: &ObjectPath, more_bytes: u64) -> Result<Self, S3Error> {
        check_target(target)?;
        let id = call
            .parameter("uploadId")?
            .ok_or(S3Error::MissingParameter("uploadId"))?;
        let statement = Statement::new(FIND)
            .bind(id)
            .bind(&target.bucket)
            .bind(&target.key);
        let rows = call.call.service().read(statement).await?;
        let row = rows.first().ok_or(S3Error::NoSuchUpload)?;
        let upload = Self::read(row).map_err(StorageError::internal)?;
        let received: i64 = row.try_get("in_progress_size").map_err(StorageError::internal)?;
        let length = u64::try_from(received).unwrap_or(0).saturating_add(more_bytes);
        let owner = Owner::of(call.caller.identity());
        may_write(
            call,
            target,
            &owner,
            &upload.declared,
            &upload.user_metadata,
            Some(length),
        )
        .await?;
        Ok(upload)
    }

    fn read(row: &Row) -> Result<Self, selvedge_postgres::RowError> {
        let metadata: Option<Value> = row.try_get("metadata")?;
        let text = |name: &str, default: &str| {
            let text = metadata
                .as_ref()
                .and_then(|metadata| metadata.get(name)?.as_str());
            text.unwrap_or(default).to_owned()
        };
        Ok(Self {
            id: row.try_get("id")?,
            owner: Owner {
                id: row.try_get("owner_id")?,
            },
            declared: Declared {
                mime_type: text("mimetype", "application/octet-stream"),
                cache_control: text("cacheControl", "no-cache"),
                robots_tag: None,
            },
            user_metadata: row
                .try_get::<_, Option<Value>>("user_metadata")?
                .unwrap_or_else(|| serde_json::json!({})),
        })
    }
}

/// Asks the policies whether the caller may write the object.
async fn may_write(
    call: &S3Call,
    target: &ObjectPath,
    owner: &Owner,
    declared: &Declared,
    user_metadata: &Value,
    content_length: Option<u64>,
) -> Result<(), S3Error> {
    let intent = Intent {
        target,
        owner,
        mime_type: Some(&declared.mime_type),
        content_length,
        user_metadata: Some(user_metadata),
        upsert: true,
    };
    Ok(probe::may_write(&call.caller, &intent).await?)
}

/// Removes the blobs of parts that lost their rows.
fn discard_parts(call: &S3Call, rows: &[Row]) -> Result<(), S3Error> {
    for row in rows {
        let id: Uuid = row.try_get("id").map_err(StorageError::internal)?;
        call.call.storage().discard(Version::of(id));
    }
    Ok(())
}
