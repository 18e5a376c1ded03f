//! `PATCH /upload/resumable[/sign]/{id}`: more bytes.

use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::{HttpResponse, web};
use uuid::Uuid;

use super::address::UploadId;
use super::refusal::Refusal;
use super::{Tus, answer, headers};
use crate::object::find;

impl Tus {
    /// 204 with the new `Upload-Offset`; a wrong offset is 409 and changes nothing. Source: STORE-087, STORE-088.
    pub(super) async fn patch(self, id: &UploadId, payload: web::Payload) -> Result<HttpResponse, Refusal> {
        let headers = self.call.request.headers();
        let offset = headers::number_of(headers, "upload-offset").ok_or(Refusal::OffsetRequired)?;
        if !headers.contains_key(CONTENT_TYPE) {
            return Err(Refusal::ContentTypeRequired);
        }
        let (_, permit) = self.permit_known(id).await?;
        let bucket = find::get_bucket(&self.call.service(), &id.target.bucket).await?;
        let limit = self.size_limit(&id.target, &bucket);

        let hold = self.call.storage().writers().acquire(id.version).await?;
        let uploads = self.uploads();
        let known = uploads.find(id).await?.ok_or(Refusal::NotFound)?;
        if known.received != offset {
            return Err(Refusal::OffsetConflict);
        }
        let writer = Uuid::new_v4();
        let mut upload = uploads.claim(id.version, writer).await?;
        if upload.received != offset {
            // Another node was quicker.
            return Err(Refusal::OffsetConflict);
        }
        if let Some(length) = headers::number_of(headers, "upload-length") {
            match upload.length {
                Some(_) => return Err(Refusal::LengthRequired),
                None if length < offset => return Err(Refusal::LengthRequired),
                None if length > limit => return Err(Refusal::TooLong),
                None => uploads.declare_length(id.version, length).await?,
            }
            upload.length = Some(length);
        }
        let received = self
            .receive(hold, upload, writer, &permit, limit, Some(payload))
            .await?;
        let mut response = answer(StatusCode::NO_CONTENT);
        response.insert_header(("upload-offset", received.offset.to_string()));
        received.describe(&mut response);
        Ok(response.finish())
    }
}
