//! `PATCH /upload/resumable[/sign]/{id}`: appends bytes to an upload.

use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::{HttpResponse, web};
use uuid::Uuid;

use super::error::TusError;
use super::headers;
use super::protocol::build_response;
use super::receive::ClaimedUpload;
use super::request::TusRequest;
use super::upload_id::UploadId;
use super::upload_table::{ResumableUpload, UploadTable};
use crate::object::lookup::find_bucket;

/// 204 with the new `Upload-Offset`. Source: STORE-087, STORE-088.
///
/// # Errors
/// `OffsetConflict` for a wrong offset, which changes nothing; those of the permission check and of receiving bytes.
pub(super) async fn append_bytes(
    request: TusRequest,
    id: &UploadId,
    payload: web::Payload,
) -> Result<HttpResponse, TusError> {
    let headers = request.context.request.headers();
    let offset = headers::find_number(headers, "upload-offset").ok_or(TusError::OffsetRequired)?;
    if !headers.contains_key(CONTENT_TYPE) {
        return Err(TusError::ContentTypeRequired);
    }
    // Before the lock: acquiring it stops the request that writes now, which a caller without permission must not be
    // able to do.
    let (_, grant) = request.authorize_existing(id).await?;
    let bucket = find_bucket(&request.context.service(), &id.target.bucket).await?;
    let limit = request.limits(&id.target, &bucket).max_bytes;

    let lock = request
        .context
        .storage()
        .upload_locks()
        .acquire(id.version)
        .await?;
    let uploads = request.uploads();
    let writer = Uuid::new_v4();
    let mut upload = claim_at_offset(&uploads, id, offset, writer).await?;
    if let Some(length) = headers::find_number(headers, "upload-length") {
        match upload.length {
            // A length is declared once. A later one could cut off or extend what was agreed.
            Some(_) => return Err(TusError::LengthRequired),
            None if length < offset => return Err(TusError::LengthRequired),
            None if length > limit => return Err(TusError::TooLong),
            None => uploads.declare_length(id.version, length).await?,
        }
        upload.length = Some(length);
    }
    let claimed = ClaimedUpload {
        upload,
        lock,
        writer,
        grant,
        limit,
    };
    let received = request.receive(claimed, Some(payload)).await?;
    let mut response = build_response(StatusCode::NO_CONTENT);
    response.insert_header(("upload-offset", received.offset.to_string()));
    received.add_headers(&mut response);
    Ok(response.finish())
}

/// Makes this request the writer of an upload that has received exactly `offset` bytes.
///
/// # Errors
/// `NotFound`, `OffsetConflict`.
async fn claim_at_offset(
    uploads: &UploadTable,
    id: &UploadId,
    offset: u64,
    writer: Uuid,
) -> Result<ResumableUpload, TusError> {
    // Looked up before the claim, so that a request with a wrong offset does not replace the current writer.
    let known = uploads.find(id).await?.ok_or(TusError::NotFound)?;
    if known.received != offset {
        return Err(TusError::OffsetConflict);
    }
    let upload = uploads.claim(id.version, writer).await?;
    if upload.received != offset {
        // The lock covers this process only: another node recorded bytes between our lookup and our claim.
        return Err(TusError::OffsetConflict);
    }
    Ok(upload)
}
