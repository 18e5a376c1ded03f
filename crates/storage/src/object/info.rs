//! `GET /object/info/…`: the details of an object as JSON.

use actix_web::HttpResponse;
use actix_web::http::header;
use serde_json::json;

use super::get_object::{check_address, find_public, find_readable};
use crate::answer::json_answer;
use crate::error::StorageError;
use crate::object_row::{ObjectRow, iso};
use crate::render::Transform;
use crate::route::ObjectPath;
use crate::serve::Call;

/// `/object/info/{bucket}/{key}`: public buckets for everyone, others under the caller's role. Source: STORE-050.
///
/// # Errors
/// `NoSuchBucket`, `NoSuchKey`.
pub(crate) async fn info(call: &Call, target: &ObjectPath) -> Result<HttpResponse, StorageError> {
    let caller = call.optional_caller();
    check_address(target)?;
    answer(call, &find_readable(call, caller.as_ref(), target).await?)
}

/// `/object/info/authenticated/{bucket}/{key}`: with a token.
///
/// # Errors
/// As [`info`], and those of a missing or bad token.
pub(crate) async fn info_authenticated(
    call: &Call,
    target: &ObjectPath,
) -> Result<HttpResponse, StorageError> {
    let caller = call.caller()?;
    check_address(target)?;
    answer(call, &find_readable(call, Some(&caller), target).await?)
}

/// `/object/info/public/{bucket}/{key}`: public buckets only.
///
/// # Errors
/// `NoSuchBucket`, `NoSuchKey`.
pub(crate) async fn info_public(call: &Call, target: &ObjectPath) -> Result<HttpResponse, StorageError> {
    check_address(target)?;
    answer(call, &find_public(&call.service(), target).await?)
}

/// Compat: `metadata` here is the user's; `last_modified` is the row's `updated_at`.
fn answer(call: &Call, row: &ObjectRow) -> Result<HttpResponse, StorageError> {
    let transformations = Transform::of_query(&call.query)?.header();
    let mut response = json_answer(&json!({
        "id": row.id,
        "name": row.name,
        "version": row.version,
        "bucket_id": row.bucket_id,
        "size": row.size_bytes(),
        "content_type": row.mime_type(),
        "cache_control": row.cache_control(),
        "etag": row.etag(),
        "metadata": row.user_metadata,
        "last_modified": row.updated_at.map(iso),
        "created_at": row.created_at.map(iso),
    }));
    for (name, value) in [
        (header::ETAG, row.etag()),
        (header::CACHE_CONTROL, row.cache_control()),
    ] {
        if let Some(value) = value.and_then(|value| header::HeaderValue::from_str(value).ok()) {
            response.headers_mut().insert(name, value);
        }
    }
    if let Some(value) = transformations.and_then(|text| header::HeaderValue::from_str(&text).ok()) {
        let name = header::HeaderName::from_static("x-transformations");
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}
