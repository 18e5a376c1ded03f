//! `PUT /{bucket}/{key}` with `x-amz-copy-source`: a second object with the same bytes. Always replaces.

use actix_web::HttpResponse;
use chrono::Utc;
use serde_json::{Value, json};

use super::conditions::{Verdict, decide};
use super::error::S3Error;
use super::xml::{Xml, answer};
use super::{S3Call, check_target, declared};
use crate::asset::Validators;
use crate::identity::Owner;
use crate::object::commit::{self, NewObject, copy_blob};
use crate::object::find;
use crate::object::probe::{self, Intent};
use crate::object_row::{ObjectRow, iso};
use crate::route::{ObjectPath, decode};

/// Tag and date of the copy. `x-amz-metadata-directive: REPLACE` takes what describes it from the request.
///
/// # Errors
/// `NoSuchKey` of the source, `PreconditionFailed`, `NoSuchBucket`, `InvalidKey`, `AccessDenied`.
pub(super) async fn copy_object(call: &S3Call, target: ObjectPath) -> Result<HttpResponse, S3Error> {
    let source = find_source(call).await?;
    call.bucket(&target.bucket).await?;
    check_target(&target)?;
    let (metadata, user_metadata) = described(call, &source)?;
    let owner = Owner::of(call.caller.identity());
    let intent = Intent {
        target: &target,
        owner: &owner,
        mime_type: metadata.get("mimetype").and_then(Value::as_str),
        content_length: source.size_bytes(),
        user_metadata: user_metadata.as_ref(),
        upsert: true,
    };
    probe::may_write(&call.caller, &intent).await?;
    let service = call.call.service();
    let object = NewObject {
        blob: copy_blob(&service, &source).await?,
        target,
        owner,
        metadata,
        user_metadata,
        upsert: true,
    };
    let copy = commit::commit(service, object).await?;
    Ok(answer(Xml::document("CopyObjectResult", |xml| {
        xml.text("ETag", copy.etag().unwrap_or_default());
        xml.optional("LastModified", copy.last_modified().map(iso).as_deref());
    })))
}

/// The source of a copy, as the caller may see it and under the request's conditions.
pub(super) async fn find_source(call: &S3Call) -> Result<ObjectRow, S3Error> {
    let header = call
        .header("x-amz-copy-source")
        .ok_or(S3Error::MissingParameter("CopySource"))?;
    let path = header.split('?').next().unwrap_or(header);
    let path = decode(path)?;
    let path = path.strip_prefix('/').unwrap_or(&path);
    let (bucket, key) = path
        .split_once('/')
        .ok_or(S3Error::InvalidArgument("CopySource"))?;
    let source = ObjectPath {
        bucket: bucket.to_owned(),
        key: key.to_owned(),
    };
    let row = find::get_visible(&call.caller, &source).await?;
    let verdict = decide(&Validators::of(&row), |name| {
        call.header(&format!("x-amz-copy-source-{name}"))
    });
    match verdict {
        Verdict::Proceed => Ok(row),
        Verdict::NotModified | Verdict::Failed => Err(S3Error::PreconditionFailed),
    }
}

/// `metadata` and `user_metadata` of the copy.
fn described(call: &S3Call, source: &ObjectRow) -> Result<(Value, Option<Value>), S3Error> {
    let mut metadata = source
        .metadata
        .clone()
        .filter(Value::is_object)
        .unwrap_or_else(|| json!({}));
    metadata["lastModified"] = json!(iso(Utc::now()));
    let replaces = call
        .header("x-amz-metadata-directive")
        .is_some_and(|directive| directive.eq_ignore_ascii_case("REPLACE"));
    if !replaces {
        return Ok((metadata, source.user_metadata.clone()));
    }
    let declared = declared::declared(call.header("content-type"), call.header("cache-control"))?;
    metadata["mimetype"] = json!(declared.mime_type);
    metadata["cacheControl"] = json!(declared.cache_control);
    Ok((metadata, Some(declared::user_metadata(&call.call.request))))
}
