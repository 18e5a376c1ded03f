//! `POST /object/sign/{bucket}/{key}`: a URL that lets its holder download one object for a while.

use actix_web::{HttpResponse, web};
use serde_json::json;

use super::find;
use super::get_object::check_address;
use crate::answer::json_answer;
use crate::error::StorageError;
use crate::json_body::read_object;
use crate::render::Transform;
use crate::route::ObjectPath;
use crate::serve::{Call, Storage};
use crate::url_token;

/// `{"signedURL":"/object/sign/{bucket}/{key}?token=…"}` from `{"expiresIn","transform"?}`. Compat: the key is not encoded, the
/// client encodes the whole URL. With a `transform`, and where pictures are rendered, it is `/render/image/sign/…`; elsewhere
/// the `transform` is dropped.
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
    let transform = match body.object("transform")? {
        Some(fields) => Transform::of_body(&fields)?,
        None => Transform::default(),
    };
    check_address(target)?;
    find::get_visible(&caller, target).await?;
    let storage = call.storage();
    let url = if transform.is_empty() || storage.renderer().is_none() {
        signed_url(storage, target, seconds)?
    } else {
        let token = url_token::sign_render(storage, target, seconds, &transform)?;
        format!("/render/image/sign/{}?token={token}", target.full())
    };
    Ok(json_answer(&json!({ "signedURL": url })))
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
