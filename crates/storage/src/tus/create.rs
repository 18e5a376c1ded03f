//! `POST /upload/resumable[/sign]`: a new upload, perhaps with its first bytes.

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, LOCATION};
use actix_web::{HttpResponse, web};
use uuid::Uuid;

use super::address::UploadId;
use super::headers::{self, OFFSET_STREAM, UploadMetadata};
use super::receive::Received;
use super::refusal::Refusal;
use super::upload::NewUpload;
use super::{Description, Tus, answer, expires};
use crate::error::StorageError;
use crate::limits::{check_mime_type, is_content_type};
use crate::names::{check_bucket_name, check_key, is_folder_placeholder};
use crate::object::find::{self, Bucket};
use crate::route::ObjectPath;
use crate::version::Version;

impl Tus {
    /// 201 with `Location`. The order of checks decides which error wins: lengths, metadata, address, size, rights, type.
    /// Source: STORE-087, STORE-088, STORE-090.
    pub(super) async fn create(self, payload: web::Payload) -> Result<HttpResponse, Refusal> {
        let headers = self.call.request.headers();
        if headers.contains_key("upload-concat") {
            return Err(Refusal::Concatenation);
        }
        let length = headers::number_of(headers, "upload-length");
        if length.is_some() == headers.contains_key("upload-defer-length") {
            return Err(Refusal::LengthRequired);
        }
        let metadata = headers::text(headers, "upload-metadata")
            .and_then(UploadMetadata::parse)
            .ok_or(Refusal::MetadataRequired)?;
        let target = ObjectPath {
            bucket: metadata.text("bucketName").unwrap_or_default(),
            key: metadata.text("objectName").unwrap_or_default(),
        };
        check_bucket_name(&target.bucket)?;
        check_key(&target.key)?;
        let bucket = find::get_bucket(&self.call.service(), &target.bucket).await?;
        let limit = self.size_limit(&target, &bucket);
        if length.is_some_and(|length| length > limit) {
            return Err(Refusal::TooLong);
        }
        let content_type = metadata.text("contentType").filter(|text| !text.is_empty());
        let user_metadata = metadata.user_metadata();
        let description = Description {
            mime_type: content_type.as_deref(),
            length,
            user_metadata: user_metadata.as_ref(),
        };
        let permit = self.permit(&target, description).await?;
        check_type(&target, content_type.as_deref(), &bucket)?;

        let id = UploadId {
            target,
            version: Version::fresh(),
        };
        let uploads = self.uploads();
        let writer = Uuid::new_v4();
        let hold = self.call.storage().writers().acquire(id.version).await?;
        let new = NewUpload {
            id: &id,
            length,
            upload_metadata: metadata.echo(),
            content_type,
            cache_control: metadata.cache_control(),
            user_metadata,
            writer,
        };
        let upload = uploads.create(new).await?;
        let created = upload.clone();

        let mut response = answer(StatusCode::CREATED);
        response.insert_header((LOCATION, id.location(&self.call, self.caller.is_none())));
        let brings_bytes = headers::text(headers, CONTENT_TYPE.as_str()) == Some(OFFSET_STREAM);
        if !brings_bytes && length != Some(0) {
            response.insert_header(expires(upload.expires_at));
            return Ok(response.finish());
        }
        let payload = brings_bytes.then_some(payload);
        match self.receive(hold, upload, writer, &permit, limit, payload).await {
            Ok(received) => {
                if brings_bytes {
                    response.insert_header(("upload-offset", received.offset.to_string()));
                }
                received.describe(&mut response);
                Ok(response.finish())
            }
            Err(refusal) => {
                // Nobody was told its address.
                uploads.remove(&created).await?;
                Err(refusal)
            }
        }
    }
}

impl Received {
    /// `Tus-Complete` when it is done, `Upload-Expires` while it is not.
    pub(super) fn describe(&self, response: &mut actix_web::HttpResponseBuilder) {
        match self.expires_at {
            None => response.insert_header(("tus-complete", "1")),
            Some(at) => response.insert_header(expires(at)),
        };
    }
}

/// The type comes back as a header one day, and it must be on the bucket's list; none at all passes.
fn check_type(target: &ObjectPath, content_type: Option<&str>, bucket: &Bucket) -> Result<(), StorageError> {
    let Some(content_type) = content_type else {
        return Ok(());
    };
    if !is_content_type(content_type) {
        return Err(StorageError::InvalidMimeType(content_type.to_owned()));
    }
    if is_folder_placeholder(&target.key) {
        return Ok(());
    }
    check_mime_type(content_type, bucket.allowed_mime_types.as_deref())
}
