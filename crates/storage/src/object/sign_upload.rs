//! `POST /object/upload/sign/{bucket}/{key}`: a URL that lets its holder upload one object for a while.

use actix_web::HttpResponse;
use serde_json::json;

use super::probe::{self, Intent};
use super::upload::{content_length, metadata_header, wants_upsert};
use crate::answer::json_answer;
use crate::error::StorageError;
use crate::identity::Owner;
use crate::names::{check_bucket_name, check_key};
use crate::route::ObjectPath;
use crate::serve::Call;
use crate::url_token;

/// `{"url","token"}`. The caller's rights are asked now; the holder needs none later. Source: STORE-046.
///
/// # Errors
/// `AccessDenied`; `KeyAlreadyExists` without `x-upsert: true`; `RelatedResourceMissing` for an unknown bucket.
pub(crate) async fn sign_upload(call: &Call, target: ObjectPath) -> Result<HttpResponse, StorageError> {
    let caller = call.caller()?;
    check_bucket_name(&target.bucket)?;
    check_key(&target.key)?;
    let owner = Owner::of(caller.identity());
    let upsert = wants_upsert(call);
    let user_metadata = metadata_header(call);
    let intent = Intent {
        target: &target,
        owner: &owner,
        mime_type: call.header("content-type"),
        content_length: content_length(call),
        user_metadata: user_metadata.as_ref(),
        upsert,
    };
    probe::may_write(&caller, &intent).await?;
    let token = url_token::sign_upload(call.storage(), &target, owner.id.as_deref(), upsert)?;
    let url = format!("/object/upload/sign/{}?token={token}", target.full());
    Ok(json_answer(&json!({ "url": url, "token": token })))
}
