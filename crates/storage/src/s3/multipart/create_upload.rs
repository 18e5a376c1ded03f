//! Beginning an upload, and giving it up.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use serde_json::json;
use uuid::Uuid;

use super::super::error::S3Error;
use super::super::xml::{Xml, answer};
use super::super::{S3Call, check_target, declared};
use super::{Upload, discard_parts, may_write};
use crate::identity::Owner;
use crate::limits::check_mime_type;
use crate::names::is_folder_placeholder;
use crate::route::ObjectPath;
use crate::session::Statement;

/// Compat: the signature column is the original's guard against tampering with the size; ours is the row lock.
const CREATE: &str = "insert into storage.s3_multipart_uploads \
     (id, bucket_id, key, version, owner_id, upload_signature, metadata, user_metadata) \
     values ($1, $2, $3, $4, $5, 'progress:0', $6::jsonb, $7::jsonb)";

/// Parts follow their upload; what they were is still to be known.
const ABORT: &str = "with upload as (delete from storage.s3_multipart_uploads where id = $1 returning id) \
     select p.id from storage.s3_multipart_uploads_parts p join upload u on p.upload_id = u.id";

/// The id under which parts may come.
///
/// # Errors
/// `NoSuchBucket`, `InvalidMimeType`, `InvalidKey`, `AccessDenied`.
pub(in super::super) async fn create_upload(
    call: &S3Call,
    target: ObjectPath,
) -> Result<HttpResponse, S3Error> {
    let bucket = call.bucket(&target.bucket).await?;
    let declared = declared::declared(call.header("content-type"), call.header("cache-control"))?;
    if !is_folder_placeholder(&target.key) {
        check_mime_type(&declared.mime_type, bucket.allowed_mime_types.as_deref())?;
    }
    check_target(&target)?;
    let user_metadata = declared::user_metadata(&call.call.request);
    let owner = Owner::of(call.caller.identity());
    may_write(call, &target, &owner, &declared, &user_metadata, Some(0)).await?;
    let id = Uuid::new_v4().to_string();
    let metadata = json!({"mimetype": declared.mime_type, "cacheControl": declared.cache_control});
    let statement = Statement::new(CREATE)
        .bind(&id)
        .bind(&target.bucket)
        .bind(&target.key)
        .bind(Uuid::new_v4().to_string())
        .bind_optional(owner.id)
        .bind(metadata.to_string())
        .bind(user_metadata.to_string());
    call.call.service().write(statement).await?;
    Ok(answer(Xml::document("InitiateMultipartUploadResult", |xml| {
        xml.text("Bucket", &target.bucket);
        xml.text("Key", &target.key);
        xml.text("UploadId", &id);
    })))
}

/// 204; its parts go.
///
/// # Errors
/// `NoSuchUpload`, `AccessDenied`.
pub(in super::super) async fn abort_upload(
    call: &S3Call,
    target: &ObjectPath,
) -> Result<HttpResponse, S3Error> {
    let upload = Upload::find(call, target).await?;
    let rows = call
        .call
        .service()
        .write(Statement::new(ABORT).bind(&upload.id))
        .await?;
    discard_parts(call, &rows)?;
    Ok(HttpResponse::build(StatusCode::NO_CONTENT).finish())
}
