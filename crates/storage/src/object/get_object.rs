//! `GET|HEAD /object/…`: the bytes of an object, over the four roads to it.

use actix_web::HttpResponse;

use super::find;
use crate::asset::{self, Freshness};
use crate::error::StorageError;
use crate::names::{check_bucket_name, check_key};
use crate::object_row::ObjectRow;
use crate::route::ObjectPath;
use crate::serve::Call;
use crate::session::Session;
use crate::url_token;

/// `/object/public/{bucket}/{key}`: no token, public buckets only. Source: STORE-002, STORE-003.
///
/// # Errors
/// `NoSuchBucket` also when the bucket is private; `NoSuchKey`.
pub(crate) async fn get_public(call: &Call, target: &ObjectPath) -> Result<HttpResponse, StorageError> {
    check_address(target)?;
    let service = call.service();
    asset::respond(call, Freshness::Stored, async || {
        find_public(&service, target).await
    })
    .await
}

/// `/object/authenticated/{bucket}/{key}`: with a token. Source: STORE-034.
///
/// # Errors
/// As [`get_object`], and those of a missing or bad token.
pub(crate) async fn get_authenticated(
    call: &Call,
    target: &ObjectPath,
) -> Result<HttpResponse, StorageError> {
    let caller = call.caller()?;
    check_address(target)?;
    asset::respond(call, Freshness::Stored, async || {
        find_readable(call, Some(&caller), target).await
    })
    .await
}

/// `/object/{bucket}/{key}`: public buckets for everyone, others under the caller's role. Source: STORE-034.
///
/// # Errors
/// `NoSuchBucket` for unauthenticated callers of a private bucket; `NoSuchKey`.
pub(crate) async fn get_object(call: &Call, target: &ObjectPath) -> Result<HttpResponse, StorageError> {
    let caller = call.optional_caller();
    check_address(target)?;
    asset::respond(call, Freshness::Stored, async || {
        find_readable(call, caller.as_ref(), target).await
    })
    .await
}

/// `/object/sign/{bucket}/{key}?token=`: whoever holds the token. Source: STORE-015, STORE-016.
///
/// # Errors
/// `Schema` without a token, `InvalidJwt`, `InvalidSignature`, `NoSuchKey`.
pub(crate) async fn get_signed(call: &Call, target: &ObjectPath) -> Result<HttpResponse, StorageError> {
    let token = call.query.required("token")?;
    let grant = url_token::verify_download(call.storage(), token, target)?;
    check_address(target)?;
    let service = call.service();
    let freshness = Freshness::SignedUntil(grant.expires_at);
    asset::respond(call, freshness, async || {
        find::get_visible(&service, target).await
    })
    .await
}

/// An object of a public bucket.
///
/// # Errors
/// `NoSuchBucket`, `NoSuchKey`.
pub(crate) async fn find_public(service: &Session, target: &ObjectPath) -> Result<ObjectRow, StorageError> {
    let (bucket, object) = find::get_bucket_and_object(service, target).await?;
    if !bucket.public {
        return Err(StorageError::NoSuchBucket);
    }
    object.ok_or(StorageError::NoSuchKey)
}

/// An object that the caller (`None`: nobody in particular) may read.
///
/// # Errors
/// `NoSuchBucket`, `NoSuchKey`.
pub(super) async fn find_readable(
    call: &Call,
    caller: Option<&Session>,
    target: &ObjectPath,
) -> Result<ObjectRow, StorageError> {
    let (bucket, object) = find::get_bucket_and_object(&call.service(), target).await?;
    match caller {
        _ if bucket.public => object.ok_or(StorageError::NoSuchKey),
        None => Err(StorageError::NoSuchBucket),
        Some(caller) if caller.identity().is_service() => object.ok_or(StorageError::NoSuchKey),
        Some(caller) => find::get_visible(caller, target).await,
    }
}

/// Checks both parts of an address.
///
/// # Errors
/// `InvalidBucketName`, `InvalidKey`.
pub(crate) fn check_address(target: &ObjectPath) -> Result<(), StorageError> {
    check_bucket_name(&target.bucket)?;
    check_key(&target.key)
}
