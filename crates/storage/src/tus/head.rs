//! `HEAD /upload/resumable[/sign]/{id}`: how many bytes of an upload are durable.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, HeaderValue};

use super::error::TusError;
use super::finish::finish_upload;
use super::protocol::{build_response, expires_header};
use super::request::{TusRequest, UploadDescription};
use super::upload_id::UploadId;
use crate::error::StorageError;

/// 200 with `Upload-Offset`. Any valid token may ask, because the id is unguessable. Source: STORE-087.
///
/// # Errors
/// `NotFound`, `Gone`; those of the upload token on signed routes.
pub(super) async fn get_upload_offset(request: &TusRequest, id: &UploadId) -> Result<HttpResponse, TusError> {
    if request.caller.is_none() {
        request
            .authorize(&id.target, UploadDescription::default())
            .await?;
    }
    let uploads = request.uploads();
    let known = uploads.find(id).await?.ok_or(TusError::NotFound)?;
    known.check_not_expired()?;
    // Clients send HEAD after a broken connection, perhaps before this server has noticed it. Taking the lock ends the
    // request that still reads from it and waits until its bytes are recorded, so that the offset is final.
    let lock = request
        .context
        .storage()
        .upload_locks()
        .acquire(id.version)
        .await?;
    let mut upload = uploads.find(id).await?.ok_or(TusError::NotFound)?;
    if upload.is_full() && !upload.completed && upload.commit_as.is_some() {
        // A crash came between the last byte and the object, or another node is about to make it. A client that sees a full
        // offset takes the upload for done, so the object must exist before it is answered. A separate task, because a
        // client that does not wait for gigabytes to be joined would otherwise make every attempt start anew.
        let caller = request.caller.clone();
        let finishing = async move {
            let _lock = lock;
            finish_upload(&uploads, caller.as_ref(), upload).await
        };
        upload = actix_web::rt::spawn(finishing)
            .await
            .map_err(StorageError::internal)??;
    }
    let mut response = build_response(StatusCode::OK);
    response.insert_header((CACHE_CONTROL, "no-store"));
    response.insert_header(("upload-offset", upload.received.to_string()));
    match upload.length {
        Some(length) => response.insert_header(("upload-length", length.to_string())),
        None => response.insert_header(("upload-defer-length", "1")),
    };
    if let Ok(metadata) = HeaderValue::from_str(&upload.upload_metadata) {
        response.insert_header(("upload-metadata", metadata));
    }
    if !upload.completed {
        response.insert_header(expires_header(upload.expires_at));
    }
    Ok(response.finish())
}
