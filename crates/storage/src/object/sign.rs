//! `POST /object/sign/{bucket}/{key}`: a URL that lets its holder download one object for a while.

use actix_web::{HttpResponse, web};
use serde_json::json;

use super::find;
use super::get_object::check_address;
use crate::answer::json_answer;
use crate::error::StorageError;
use crate::json_body::read_object;
use crate::route::ObjectPath;
use crate::serve::{Call, Storage};
use crate::url_token;

/// `{"signedURL":"/object/sign/{bucket}/{key}?token=…"}` from `{"expiresIn"}`. Compat: the key is not encoded, the
/// client encodes the whole URL. A `transform` is dropped, as by an original without image transformation.
/// Source: STORE-015, STORE-017, STORE-060.
///
/// # Errors
/// `NoSuchKey` when the caller may not select the object, on public buckets too.
pub(crate) async fn sign(
    call: &Call,
    target: &ObjectPath,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = call.caller()?;
    let body = read_object(&call.request, payload).await?;
    let seconds = body.required_integer("expiresIn", 1)?;
    body.object("transform")?;
    check_address(target)?;
    find::get_visible(&caller, target).await?;
    Ok(json_answer(
        &json!({ "signedURL": signed_url(call.storage(), target, seconds)? }),
    ))
}

/// The URL, relative to the service.
pub(super) fn signed_url(
    storage: &Storage,
    target: &ObjectPath,
    seconds: i64,
) -> Result<String, StorageError> {
    let token = url_token::sign_download(storage, target, seconds)?;
    Ok(format!("/object/sign/{}?token={token}", target.full()))
}
