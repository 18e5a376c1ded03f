//! `POST /object/upload/sign/{bucket}/{key}`: a URL with which anyone may upload one object until it expires.

use actix_web::HttpResponse;
use serde_json::json;

use super::authorize_write::{WriteIntent, authorize_write};
use super::upload_headers::{read_content_length, read_user_metadata, wants_upsert};
use crate::context::RequestContext;
use crate::error::StorageError;
use crate::identity::Owner;
use crate::request::object_path::ObjectPath;
use crate::response::json::json_response;
use crate::url_token;

/// `{"url","token"}`. The caller's permission is checked now, so the holder of the URL needs none. Source: STORE-046.
///
/// # Errors
/// `AccessDenied`; `KeyAlreadyExists` without `x-upsert: true`; `RelatedResourceMissing` for an unknown bucket.
pub(crate) async fn sign_upload(
    context: &RequestContext,
    target: ObjectPath,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    target.check_names()?;
    let owner = Owner::from_identity(caller.identity());
    let upsert = wants_upsert(context);
    let user_metadata = read_user_metadata(context);
    let intent = WriteIntent {
        target: &target,
        owner: &owner,
        mime_type: context.header("content-type"),
        content_length: read_content_length(context),
        user_metadata: user_metadata.as_ref(),
        upsert,
    };
    authorize_write(&caller, &intent).await?;
    let token = url_token::sign_upload_token(context.storage(), &target, caller.identity(), upsert)?;
    let url = format!("/object/upload/sign/{}?token={token}", target.signed_url_path());
    Ok(json_response(&json!({ "url": url, "token": token })))
}
