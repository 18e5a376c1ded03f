//! `PUT /{bucket}/{key}`: stores an object from a body. Replaces an existing one, unless `If-None-Match: *` forbids it.

use actix_web::HttpResponse;
use actix_web::http::header;

use super::context::S3Context;
use super::error::S3Error;
use super::object_headers;
use super::store_object::S3Upload;
use super::versions::set_version_header;
use super::write_condition::{creates_only, map_conflict};
use crate::request::object_path::ObjectPath;
use crate::response::object_headers::set_header;
use crate::validation::names::FOLDER_PLACEHOLDER;

/// 200 with the new entity tag.
///
/// # Errors
/// `NoSuchBucket`, `InvalidMimeType`, `EntityTooLarge`, `InvalidKey`, `AccessDenied`, those of the body; `PreconditionFailed`;
/// `NotImplemented` for a condition other than `If-None-Match: *`.
pub(super) async fn put_object(
    mut context: S3Context,
    mut target: ObjectPath,
) -> Result<HttpResponse, S3Error> {
    let bucket = context.find_bucket(&target.bucket).await?;
    let length = context.declared_bytes();
    // S3 clients use an empty object whose key ends with a slash for a folder. So the dashboard shows it as one.
    if target.key.ends_with('/') && length == Some(0) {
        target.key.push_str(FOLDER_PLACEHOLDER);
    }
    let declared = object_headers::read_declared_headers(&context)?;
    let body = context.take_body()?;
    let creates_only = creates_only(&context)?;
    let upload = S3Upload {
        context: &context.http,
        caller: &context.caller,
        policy_limit: u64::MAX,
        length,
        upsert: !creates_only,
        user_metadata: object_headers::read_user_metadata(&context.http.request),
        bucket,
        target,
        declared,
    };
    let stored = upload.store(body.stream()).await;
    let stored = stored.map_err(|error| map_conflict(error, creates_only))?;
    let mut response = HttpResponse::Ok();
    set_header(&mut response, header::ETAG, stored.etag().unwrap_or_default());
    set_version_header(&mut response, &stored);
    Ok(response.finish())
}
