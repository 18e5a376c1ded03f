//! `POST /{bucket}/{key}?uploads`: begins a multipart upload.

use actix_web::HttpResponse;
use selvedge_gateway::Caller;
use serde_json::json;
use uuid::Uuid;

use super::multipart_upload::authorize_upload;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::identity::Owner;
use crate::request::object_path::ObjectPath;
use crate::s3::context::S3Context;
use crate::s3::error::S3Error;
use crate::s3::object_headers;
use crate::s3::xml_writer::{Xml, xml_response};
use crate::unfinished::{Holder, Share, within_share};

/// Compat: `upload_signature` is how the original guards the size against tampering. We lock the row instead, and the
/// column only has to be filled.
const INSERT_UPLOAD: &str = concat!(
    "insert into storage.s3_multipart_uploads \
     (id, bucket_id, key, version, owner_id, upload_signature, metadata, user_metadata, holder) \
     select $1, $2, $3, $4, $5, 'progress:0', $6::jsonb, $7::jsonb, $8::text where ",
    within_share!("$8", "$9", "$10"),
    " returning id"
);

/// The id under which parts can be uploaded.
///
/// # Errors
/// `NoSuchBucket`, `InvalidMimeType`, `InvalidKey`, `AccessDenied`, `TooManyUnfinished`.
pub(in crate::s3) async fn create_upload(
    context: &S3Context,
    target: ObjectPath,
) -> Result<HttpResponse, S3Error> {
    let bucket = context.find_bucket(&target.bucket).await?;
    let declared = object_headers::read_declared_headers(context)?;
    context
        .limits(&bucket, &target.key)
        .check_type(&declared.mime_type)?;
    target.check_names()?;
    let user_metadata = object_headers::read_user_metadata(&context.http.request);
    authorize_upload(context, &target, &declared, &user_metadata, 0).await?;
    let owner = Owner::from_identity(context.caller.identity());
    let id = Uuid::new_v4().to_string();
    let metadata = json!({
        "mimetype": declared.mime_type,
        "cacheControl": declared.cache_control,
        "contentEncoding": declared.content_encoding,
    });
    let client = Caller::extract(&context.http.request).remote_ip();
    let holder = Holder::of_caller(context.caller.identity(), client);
    let share = Share::from_config(context.storage().config());
    let statement = Statement::new(INSERT_UPLOAD)
        .bind(&id)
        .bind(&target.bucket)
        .bind(&target.key)
        .bind(Uuid::new_v4().to_string())
        .bind_optional(owner.id)
        .bind(metadata.to_string())
        .bind(user_metadata.to_string())
        .bind_optional(holder.0)
        .bind_optional(share.uploads.map(|most| most.to_string()))
        .bind_optional(share.bytes.map(|most| most.to_string()));
    if context.service().write(statement).await?.is_empty() {
        return Err(StorageError::TooManyUnfinished.into());
    }
    Ok(xml_response(Xml::document(
        "InitiateMultipartUploadResult",
        |xml| {
            xml.text("Bucket", &target.bucket);
            xml.text("Key", &target.key);
            xml.text("UploadId", &id);
        },
    )))
}
