//! `POST /upload/resumable[/sign]`: begins an upload, perhaps with its first bytes.

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, LOCATION};
use actix_web::{HttpResponse, web};
use uuid::Uuid;

use super::error::TusError;
use super::headers::{self, UploadMetadata};
use super::protocol::{OFFSET_STREAM, build_response, expires_header};
use super::receive::ClaimedUpload;
use super::request::{TusRequest, UploadDescription, WriteGrant};
use super::upload_id::UploadId;
use super::upload_table::NewUpload;
use crate::backend::Version;
use crate::error::StorageError;
use crate::object::lookup::find_bucket;
use crate::request::object_path::ObjectPath;
use crate::validation::content_type::ContentType;
use crate::validation::object_limits::ObjectLimits;

/// The type that the object of an upload gets which names none.
const DEFAULT_TYPE: &str = "application/octet-stream";

/// 201 with `Location`. Source: STORE-087, STORE-088, STORE-090.
///
/// # Errors
/// Those of [`check_request`], `TooManyUnfinished`, and those of receiving the first bytes; then the upload does not exist.
pub(super) async fn create_upload(
    request: TusRequest,
    payload: web::Payload,
) -> Result<HttpResponse, TusError> {
    let checked = check_request(&request).await?;
    let id = UploadId {
        target: checked.target.clone(),
        version: Version::fresh(),
    };
    let uploads = request.uploads();
    let writer = Uuid::new_v4();
    // The version is new, so this never waits. It keeps the expiry from removing the upload while its first bytes
    // arrive.
    let locks = request.context.storage().upload_locks();
    let lock = locks.acquire(id.version).await?;
    let row = checked.new_row(&id, writer);
    let upload = uploads.create(row).await?;

    let mut response = build_response(StatusCode::CREATED);
    response.insert_header((LOCATION, id.location(&request.context, request.caller.is_none())));
    let headers = request.context.request.headers();
    let brings_bytes = headers::find_text(headers, CONTENT_TYPE.as_str()) == Some(OFFSET_STREAM);
    // An upload of zero bytes is complete immediately: no client sends a PATCH for it.
    if !brings_bytes && checked.length != Some(0) {
        response.insert_header(expires_header(upload.expires_at));
        return Ok(response.finish());
    }
    let payload = brings_bytes.then_some(payload);
    let claimed = ClaimedUpload {
        upload: upload.clone(),
        lock,
        writer,
        grant: checked.grant,
        limit: checked.limit,
    };
    match request.receive(claimed, payload).await {
        Ok(received) => {
            if brings_bytes {
                response.insert_header(("upload-offset", received.offset.to_string()));
            }
            received.add_headers(&mut response);
            Ok(response.finish())
        }
        Err(error) => {
            // The client gets no Location with an error, so it could never resume this upload.
            uploads.remove_unfinished(&upload).await?;
            Err(error)
        }
    }
}

/// A creation whose headers are valid and whose target may be written.
struct CheckedCreation {
    target: ObjectPath,
    length: Option<u64>,
    limit: u64,
    metadata: UploadMetadata,
    content_type: Option<String>,
    grant: WriteGrant,
}

impl CheckedCreation {
    fn new_row<'a>(&self, id: &'a UploadId, writer: Uuid) -> NewUpload<'a> {
        NewUpload {
            id,
            length: self.length,
            upload_metadata: self.metadata.response_value(),
            content_type: self.content_type.clone(),
            cache_control: self.metadata.cache_control(),
            user_metadata: self.metadata.user_metadata(),
            writer,
            holder: self.grant.holder.clone(),
        }
    }
}

/// Checks a creation. The contract fixes the order of checks, which decides the error that a client sees: lengths,
/// metadata, address, size, permission, type.
async fn check_request(request: &TusRequest) -> Result<CheckedCreation, TusError> {
    let headers = request.context.request.headers();
    if headers.contains_key("upload-concat") {
        return Err(TusError::Concatenation);
    }
    let length = headers::find_number(headers, "upload-length");
    // TUS requires exactly one of the two headers.
    if length.is_some() == headers.contains_key("upload-defer-length") {
        return Err(TusError::LengthRequired);
    }
    let metadata = headers::find_text(headers, "upload-metadata")
        .and_then(UploadMetadata::parse)
        .ok_or(TusError::MetadataRequired)?;
    let target = ObjectPath {
        bucket: metadata.text("bucketName").unwrap_or_default(),
        key: metadata.text("objectName").unwrap_or_default(),
    };
    target.check_names()?;
    metadata.content_encoding()?;
    let bucket = find_bucket(&request.context.service(), &target.bucket).await?;
    let limits = request.limits(&target, &bucket);
    if limits.check_size(length).is_err() {
        return Err(TusError::TooLong);
    }
    let content_type = metadata.text("contentType").filter(|text| !text.is_empty());
    let user_metadata = metadata.user_metadata();
    let description = UploadDescription {
        mime_type: content_type.as_deref(),
        length,
        user_metadata: user_metadata.as_ref(),
    };
    let grant = request.authorize(&target, description).await?;
    check_type(limits, content_type.as_deref())?;
    Ok(CheckedCreation {
        target,
        length,
        limit: limits.max_bytes,
        metadata,
        content_type,
        grant,
    })
}

/// Checks that the type can be sent as a header and is on the bucket's list. An upload without a type is one of
/// [`DEFAULT_TYPE`].
fn check_type(limits: ObjectLimits<'_>, content_type: Option<&str>) -> Result<(), StorageError> {
    let content_type = content_type.unwrap_or(DEFAULT_TYPE);
    if ContentType::parse(content_type).is_none() {
        return Err(StorageError::InvalidMimeType(content_type.to_owned()));
    }
    limits.check_type(content_type)
}
