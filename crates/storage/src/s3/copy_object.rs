//! `PUT /{bucket}/{key}` with `x-amz-copy-source`: creates a second object with the same bytes. Replaces an existing object with the
//! target key, unless `If-None-Match: *` forbids it.

use actix_web::HttpResponse;
use chrono::Utc;
use serde_json::{Value, json};

use super::context::S3Context;
use super::error::S3Error;
use super::object_headers;
use super::preconditions::{Precondition, evaluate_preconditions};
use super::versions::{WantedVersion, set_version_header};
use super::write_condition::{creates_only, map_conflict};
use super::xml_writer::{MEDIA_TYPE, Xml};
use crate::database::object_row::{ObjectRow, format_iso, set_content_encoding};
use crate::identity::Owner;
use crate::object::authorize_write::{WriteIntent, authorize_write};
use crate::object::commit::{CommitChecks, NewObject, commit_object};
use crate::object::pending_blob::copy_blob;
use crate::object::relocation::check_destination_limits;
use crate::request::object_path::{ObjectPath, decode_path};
use crate::request::query::Query;
use crate::response::validators::Validators;

/// Entity tag and date of the copy. With `x-amz-metadata-directive: REPLACE`, type, cache-control, encoding and user
/// metadata come from the request.
///
/// # Errors
/// `NoSuchKey` of the source, `PreconditionFailed`, `NoSuchBucket`, `InvalidKey`, `AccessDenied`, `InvalidMimeType`,
/// `EntityTooLarge`; `NotImplemented` for another condition on the target.
pub(super) async fn copy_object(context: &S3Context, target: ObjectPath) -> Result<HttpResponse, S3Error> {
    let creates_only = creates_only(context)?;
    let source = find_copy_source(context).await?;
    context.find_bucket(&target.bucket).await?;
    target.check_names()?;
    let (metadata, user_metadata) = choose_metadata(context, &source)?;
    let owner = Owner::from_identity(context.caller.identity());
    let intent = WriteIntent {
        target: &target,
        owner: &owner,
        mime_type: metadata.get("mimetype").and_then(Value::as_str),
        content_length: source.size_bytes(),
        user_metadata: user_metadata.as_ref(),
        upsert: !creates_only,
    };
    let allowed = authorize_write(&context.caller, &intent).await;
    allowed.map_err(|error| map_conflict(error, creates_only))?;
    check_destination_limits(&context.http, &target, intent.mime_type, source.size_bytes()).await?;
    let service = context.service();
    let checks = CommitChecks::of(&context.caller, &intent);
    let object = NewObject {
        checks: Some(checks),
        blob: copy_blob(&service, &source).await?,
        target,
        owner,
        metadata,
        user_metadata,
        upsert: !creates_only,
    };
    let copy = commit_object(service, object).await;
    let copy = copy.map_err(|error| map_conflict(error, creates_only))?;
    let document = Xml::document("CopyObjectResult", |xml| {
        xml.text("ETag", copy.etag().unwrap_or_default());
        xml.optional("LastModified", copy.last_modified().map(format_iso).as_deref());
    });
    let mut response = HttpResponse::Ok();
    set_version_header(&mut response, &copy);
    Ok(response.content_type(MEDIA_TYPE).body(document))
}

/// The source of a copy, if the caller may see it and the request's conditions hold.
///
/// # Errors
/// `MissingParameter`, `InvalidArgument`, `NoSuchVersion`, `NoSuchKey`, `PreconditionFailed`.
pub(super) async fn find_copy_source(context: &S3Context) -> Result<ObjectRow, S3Error> {
    let header = context
        .header("x-amz-copy-source")
        .ok_or(S3Error::MissingParameter("CopySource"))?;
    let (path, query) = header.split_once('?').unwrap_or((header, ""));
    let query = Query::parse(query);
    let wanted = WantedVersion::parse(query.text("versionId")?);
    let path = decode_path(path)?;
    let path = path.strip_prefix('/').unwrap_or(&path);
    let (bucket, key) = path
        .split_once('/')
        .ok_or(S3Error::InvalidArgument("CopySource"))?;
    let source = ObjectPath {
        bucket: bucket.to_owned(),
        key: key.to_owned(),
    };
    let row = wanted.find(&context.caller, &source).await?;
    let precondition = evaluate_preconditions(&Validators::from_object(&row), |name| {
        context.header(&format!("x-amz-copy-source-{name}"))
    });
    match precondition {
        Precondition::Proceed => Ok(row),
        // As in S3, a copy answers 412 also where a GET would answer 304.
        Precondition::NotModified | Precondition::Failed => Err(S3Error::PreconditionFailed),
    }
}

/// `metadata` and `user_metadata` of the copy.
fn choose_metadata(context: &S3Context, source: &ObjectRow) -> Result<(Value, Option<Value>), S3Error> {
    let mut metadata = source
        .metadata
        .clone()
        .filter(Value::is_object)
        .unwrap_or_else(|| json!({}));
    metadata["lastModified"] = json!(format_iso(Utc::now()));
    let replaces = context
        .header("x-amz-metadata-directive")
        .is_some_and(|directive| directive.eq_ignore_ascii_case("REPLACE"));
    if !replaces {
        return Ok((metadata, source.user_metadata.clone()));
    }
    let declared = object_headers::read_declared_headers(context)?;
    metadata["mimetype"] = json!(declared.mime_type);
    metadata["cacheControl"] = json!(declared.cache_control);
    set_content_encoding(
        &mut metadata,
        declared.content_encoding.as_deref().unwrap_or_default(),
    );
    Ok((
        metadata,
        Some(object_headers::read_user_metadata(&context.http.request)),
    ))
}
