//! `GET /object/info/…`: the details of an object as JSON.

use actix_web::HttpResponse;
use actix_web::http::header;
use serde_json::json;

use super::lookup::{find_public_object, find_readable_object};
use crate::context::RequestContext;
use crate::database::object_row::{ObjectRow, format_iso};
use crate::error::StorageError;
use crate::render::Transform;
use crate::request::object_path::ObjectPath;
use crate::response::json::json_response;
use crate::versions::read_wanted_version;

/// `/object/info/{bucket}/{key}`: public buckets for everyone, others under the caller's role. Source: STORE-050.
///
/// # Errors
/// `NoSuchBucket`, `NoSuchKey`.
pub(crate) async fn get_info(
    context: &RequestContext,
    target: &ObjectPath,
) -> Result<HttpResponse, StorageError> {
    let caller = context.optional_caller();
    target.check_names()?;
    context.read_from_replicas();
    let version = read_wanted_version(context)?;
    let row = find_readable_object(context, caller.as_ref(), target, version.as_deref()).await?;
    info_response(context, &row)
}

/// `/object/info/authenticated/{bucket}/{key}`: with a token.
///
/// # Errors
/// As [`get_info`], and those of a missing or bad token.
pub(crate) async fn get_info_authenticated(
    context: &RequestContext,
    target: &ObjectPath,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    target.check_names()?;
    context.read_from_replicas();
    let version = read_wanted_version(context)?;
    let row = find_readable_object(context, Some(&caller), target, version.as_deref()).await?;
    info_response(context, &row)
}

/// `/object/info/public/{bucket}/{key}`: public buckets only.
///
/// # Errors
/// `NoSuchBucket`, `NoSuchKey`.
pub(crate) async fn get_info_public(
    context: &RequestContext,
    target: &ObjectPath,
) -> Result<HttpResponse, StorageError> {
    target.check_names()?;
    context.read_from_replicas();
    let version = read_wanted_version(context)?;
    let row = find_public_object(&context.service(), target, version.as_deref()).await?;
    info_response(context, &row)
}

/// The row as JSON. Compat: `metadata` here is the user's; `last_modified` is the row's `updated_at`.
fn info_response(context: &RequestContext, row: &ObjectRow) -> Result<HttpResponse, StorageError> {
    let transformations = Transform::from_query(&context.query)?.header();
    let mut response = json_response(&json!({
        "id": row.id,
        "name": row.name,
        "version": row.version,
        "bucket_id": row.bucket_id,
        "size": row.size_bytes(),
        "content_type": row.mime_type(),
        "cache_control": row.cache_control(),
        "content_encoding": row.content_encoding(),
        "archived_at": row.archived_at.map(format_iso),
        "is_delete_marker": row.is_delete_marker,
        "is_versioned": row.is_versioned,
        "etag": row.etag(),
        "metadata": row.user_metadata,
        "last_modified": row.updated_at.map(format_iso),
        "created_at": row.created_at.map(format_iso),
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
