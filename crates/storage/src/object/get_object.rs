//! `GET|HEAD /object/…`: the bytes of an object, on the public, authenticated and signed routes and on the bare path.

use actix_web::HttpResponse;

use super::lookup::{find_public_object, find_readable_object, find_visible_object};
use crate::context::RequestContext;
use crate::error::StorageError;
use crate::request::object_path::ObjectPath;
use crate::response::object_headers::Freshness;
use crate::response::object_response::send_object;
use crate::url_token;
use crate::versions::read_wanted_version;

/// `/object/public/{bucket}/{key}`: no token, public buckets only. Source: STORE-002, STORE-003.
///
/// # Errors
/// `NoSuchBucket` also when the bucket is private; `NoSuchKey`.
pub(crate) async fn get_public(
    context: &RequestContext,
    target: &ObjectPath,
) -> Result<HttpResponse, StorageError> {
    target.check_names()?;
    context.read_from_replicas();
    let version = read_wanted_version(context)?;
    let service = context.service();
    send_object(context, Freshness::Stored, async || {
        find_public_object(&service, target, version.as_deref()).await
    })
    .await
}

/// `/object/authenticated/{bucket}/{key}`: with a token. Source: STORE-034.
///
/// # Errors
/// As [`get_object`], and those of a missing or bad token.
pub(crate) async fn get_authenticated(
    context: &RequestContext,
    target: &ObjectPath,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    target.check_names()?;
    context.read_from_replicas();
    let version = read_wanted_version(context)?;
    send_object(context, Freshness::Stored, async || {
        find_readable_object(context, Some(&caller), target, version.as_deref()).await
    })
    .await
}

/// `/object/{bucket}/{key}`: public buckets for everyone, others under the caller's role. Source: STORE-034.
///
/// # Errors
/// `NoSuchBucket` for unauthenticated callers of a private bucket; `NoSuchKey`.
pub(crate) async fn get_object(
    context: &RequestContext,
    target: &ObjectPath,
) -> Result<HttpResponse, StorageError> {
    let caller = context.optional_caller();
    target.check_names()?;
    context.read_from_replicas();
    let version = read_wanted_version(context)?;
    send_object(context, Freshness::Stored, async || {
        find_readable_object(context, caller.as_ref(), target, version.as_deref()).await
    })
    .await
}

/// `/object/sign/{bucket}/{key}?token=`: for holders of a URL token. Source: STORE-015, STORE-016.
///
/// # Errors
/// `Schema` without a token, `InvalidJwt`, `InvalidSignature`, `NoSuchKey`.
pub(crate) async fn get_signed(
    context: &RequestContext,
    target: &ObjectPath,
) -> Result<HttpResponse, StorageError> {
    let token = context.query.required("token")?;
    let grant = url_token::verify_download_token(context.storage(), token, target)?;
    if grant.transform.changes_image() {
        return Err(StorageError::InvalidSignature("Token is for a rendered image"));
    }
    target.check_names()?;
    // The token may name a version. One in the query does not count, since nobody has signed it.
    if grant.version.is_none() {
        context.read_from_replicas();
    }
    let service = context.service();
    let freshness = Freshness::SignedUntil(grant.expires_at);
    send_object(context, freshness, async || {
        // As the service: the permission was checked when the URL was signed, and its holder may have no account.
        find_visible_object(&service, target, grant.version.as_deref()).await
    })
    .await
}
