//! The row of a multipart upload, and the permission check at each of its steps.

use selvedge_postgres::Row;
use serde_json::Value;
use uuid::Uuid;

use crate::backend::Version;
use crate::database::object_row::Declared;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::identity::Owner;
use crate::object::authorize_write::{WriteIntent, authorize_write};
use crate::request::object_path::ObjectPath;
use crate::s3::context::S3Context;
use crate::s3::error::S3Error;

/// The largest part number; the smallest is 1.
pub(in crate::s3) const MAX_PART_NUMBER: i32 = 10_000;

const SELECT_UPLOAD: &str = "select u.id, u.in_progress_size, u.owner_id, u.metadata, u.user_metadata, \
     (select coalesce(sum(held.bytes), 0)::bigint from storage.unfinished_uploads as held where held.holder = u.holder) as held, \
     (select coalesce(sum(p.size), 0)::bigint from storage.s3_multipart_uploads_parts as p \
     where p.upload_id = u.id and p.part_number = $4::integer) as replaced \
     from storage.s3_multipart_uploads u where u.id = $1 and u.bucket_id = $2 and u.key = $3";

/// A multipart upload that is neither completed nor aborted.
pub(super) struct MultipartUpload {
    pub(super) id: String,
    pub(super) owner: Owner,
    pub(super) declared: Declared,
    pub(super) user_metadata: Value,
    /// Bytes of all unfinished uploads in whose share this one is; 0 if it is in none.
    pub(super) held_bytes: u64,
    /// Bytes of the part that the request replaces.
    pub(super) replaced_bytes: u64,
}

impl MultipartUpload {
    /// The upload that the query names, if the caller may write its object.
    ///
    /// # Errors
    /// `NoSuchUpload`, `AccessDenied`.
    pub(super) async fn find(context: &S3Context, target: &ObjectPath) -> Result<Self, S3Error> {
        Self::find_for_part(context, target, 0, 0).await
    }

    /// As [`Self::find`], for a request that adds a part of `more_bytes` with this number. Policies see the size of all parts so
    /// far, and these bytes.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub(super) async fn find_for_part(
        context: &S3Context,
        target: &ObjectPath,
        number: i32,
        more_bytes: u64,
    ) -> Result<Self, S3Error> {
        target.check_names()?;
        let id = context
            .parameter("uploadId")?
            .ok_or(S3Error::MissingParameter("uploadId"))?;
        let statement = Statement::new(SELECT_UPLOAD)
            .bind(id)
            .bind(&target.bucket)
            .bind(&target.key)
            .bind(number.to_string());
        let rows = context.service().read(statement).await?;
        let row = rows.first().ok_or(S3Error::NoSuchUpload)?;
        let upload = Self::read(row).map_err(StorageError::internal)?;
        let received: i64 = row.try_get("in_progress_size").map_err(StorageError::internal)?;
        let length = u64::try_from(received).unwrap_or(0).saturating_add(more_bytes);
        authorize_upload(context, target, &upload.declared, &upload.user_metadata, length).await?;
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
                content_encoding: Some(text("contentEncoding", "")).filter(|text| !text.is_empty()),
                robots_tag: None,
            },
            user_metadata: row
                .try_get::<_, Option<Value>>("user_metadata")?
                .unwrap_or_else(|| serde_json::json!({})),
            replaced_bytes: row.try_get::<_, i64>("replaced")?.try_into().unwrap_or(0),
            held_bytes: row.try_get::<_, i64>("held")?.try_into().unwrap_or(0),
        })
    }
}

/// Checks whether the policies let the caller write an object of this size.
pub(super) async fn authorize_upload(
    context: &S3Context,
    target: &ObjectPath,
    declared: &Declared,
    user_metadata: &Value,
    size_bytes: u64,
) -> Result<(), S3Error> {
    let owner = Owner::from_identity(context.caller.identity());
    let intent = describe_write(&owner, target, declared, user_metadata, size_bytes);
    Ok(authorize_write(&context.caller, &intent).await?)
}

/// An object of this size as policies see it.
pub(super) fn describe_write<'a>(
    owner: &'a Owner,
    target: &'a ObjectPath,
    declared: &'a Declared,
    user_metadata: &'a Value,
    size_bytes: u64,
) -> WriteIntent<'a> {
    WriteIntent {
        target,
        owner,
        mime_type: Some(&declared.mime_type),
        content_length: Some(size_bytes),
        user_metadata: Some(user_metadata),
        upsert: true,
    }
}

/// Discards the blobs of parts whose rows were deleted; `rows` have the column `id`.
pub(super) fn discard_parts(context: &S3Context, rows: &[Row]) -> Result<(), S3Error> {
    for row in rows {
        let id: Uuid = row.try_get("id").map_err(StorageError::internal)?;
        context.storage().discard_piece(Version::from_uuid(id));
    }
    Ok(())
}
