//! `DELETE /upload/resumable[/sign]/{id}`: removes an unfinished upload.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::error::TusError;
use super::protocol::build_response;
use super::request::TusRequest;
use super::upload_id::UploadId;

/// `DELETE` → 204; removes the upload and its bytes. Source: STORE-091.
///
/// # Errors
/// Those of the permission check, `NotFound`, `Gone`, `AlreadyComplete`.
pub(super) async fn terminate_upload(request: &TusRequest, id: &UploadId) -> Result<HttpResponse, TusError> {
    request.authorize_existing(id).await?;
    let _lock = request
        .context
        .storage()
        .upload_locks()
        .acquire(id.version)
        .await?;
    let uploads = request.uploads();
    let upload = uploads.find(id).await?.ok_or(TusError::NotFound)?;
    // Another node may have made the object since the upload was read.
    if upload.completed || !uploads.remove_unfinished(&upload).await? {
        return Err(TusError::AlreadyComplete);
    }
    Ok(build_response(StatusCode::NO_CONTENT).finish())
}
