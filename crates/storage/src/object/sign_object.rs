//! `POST /object/sign/{bucket}/{key}`: a URL with which anyone may download one object until it expires.

use actix_web::{HttpResponse, web};
use serde_json::json;

use super::lookup::find_visible_object;
use crate::context::RequestContext;
use crate::error::StorageError;
use crate::render::Transform;
use crate::request::json_body::read_object;
use crate::request::object_path::ObjectPath;
use crate::response::json::json_response;
use crate::state::Storage;
use crate::url_token;

/// `{"signedURL":"/object/sign/{bucket}/{key}?token=…"}` from `{"expiresIn","transform"?,"versionId"?}`. Compat: the key is not
/// encoded, because clients encode the whole URL. With a `transform` that changes the image it is
/// `/render/image/sign/…`, unless image transformation is off.
/// Source: STORE-015, STORE-017, STORE-060, STORE-219.
///
/// # Errors
/// `NoSuchKey` when the caller may not select the object, on public buckets too.
pub(crate) async fn sign_object(
    context: &RequestContext,
    target: &ObjectPath,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    let body = read_object(&context.request, payload).await?;
    let seconds = body.required_integer("expiresIn", 1)?;
    let transform = match body.object("transform")? {
        Some(fields) => Transform::from_body(&fields)?,
        None => Transform::default(),
    };
    // Clients of other languages write null for what is not given.
    let version = body.text("versionId")?.filter(|version| !version.is_empty());
    target.check_names()?;
    find_visible_object(&caller, target, version.as_deref()).await?;
    let storage = context.storage();
    let url = if !transform.changes_image() || storage.renderer().is_none() {
        build_signed_url(storage, target, seconds, version.as_deref())?
    } else {
        let version = version.as_deref();
        let token = url_token::sign_render_token(storage, target, seconds, &transform, version)?;
        format!("/render/image/sign/{}?token={token}", target.signed_url_path())
    };
    Ok(json_response(&json!({ "signedURL": url })))
}

/// A signed download URL, relative to the service; with a version it opens no other one.
pub(crate) fn build_signed_url(
    storage: &Storage,
    target: &ObjectPath,
    seconds: i64,
    version: Option<&str>,
) -> Result<String, StorageError> {
    let token = url_token::sign_download_token(storage, target, seconds, version)?;
    Ok(format!("/object/sign/{}?token={token}", target.signed_url_path()))
}
