//! `DELETE /{bucket}/{key}?uploadId=`: gives up a multipart upload.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::multipart_upload::{MultipartUpload, discard_parts};
use crate::database::statement::Statement;
use crate::request::object_path::ObjectPath;
use crate::s3::context::S3Context;
use crate::s3::error::S3Error;

/// The rows of parts are deleted by cascade. The outer SELECT still sees them, because all parts of a statement share
/// one snapshot.
const ABORT: &str = "with upload as (delete from storage.s3_multipart_uploads where id = $1 returning id) \
     select p.id from storage.s3_multipart_uploads_parts p join upload u on p.upload_id = u.id";

/// 204; the parts are removed.
///
/// # Errors
/// `NoSuchUpload`, `AccessDenied`.
pub(in crate::s3) async fn abort_upload(
    context: &S3Context,
    target: &ObjectPath,
) -> Result<HttpResponse, S3Error> {
    let upload = MultipartUpload::find(context, target).await?;
    let rows = context
        .service()
        .write(Statement::new(ABORT).bind(&upload.id))
        .await?;
    discard_parts(context, &rows)?;
    Ok(HttpResponse::build(StatusCode::NO_CONTENT).finish())
}
