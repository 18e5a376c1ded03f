//! `GET` and `HEAD /{bucket}/{key}`, and the object's tags, of which there are none.

use actix_web::body::SizedStream;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HttpDate};
use actix_web::{HttpResponse, HttpResponseBuilder};

use super::context::S3Context;
use super::error::S3Error;
use super::object_headers;
use super::part_layout::{ObjectPart, find_part};
use super::preconditions::{Precondition, evaluate_preconditions};
use super::versions::{WantedVersion, set_version_header};
use super::xml_writer::{Xml, xml_response};
use crate::backend::BlobBody;
use crate::database::object_row::ObjectRow;
use crate::error::StorageError;
use crate::request::object_path::ObjectPath;
use crate::response::byte_range::ByteRange;
use crate::response::object_headers::{set_content_type, set_header};
use crate::response::object_response::empty_stream;
use crate::response::validators::Validators;

/// Parameters of the query that replace headers of the response.
const OVERRIDES: [(&str, header::HeaderName); 5] = [
    ("response-cache-control", header::CACHE_CONTROL),
    ("response-content-disposition", header::CONTENT_DISPOSITION),
    ("response-content-encoding", header::CONTENT_ENCODING),
    ("response-content-language", header::CONTENT_LANGUAGE),
    ("response-expires", header::EXPIRES),
];

/// The bytes, a range of them, or with `partNumber` those of one part.
///
/// # Errors
/// `NoSuchBucket`, `NoSuchKey` also for what is hidden, `PreconditionFailed`, `InvalidRange`, `InvalidPartNumber`.
pub(super) async fn get_object(context: &S3Context, target: &ObjectPath) -> Result<HttpResponse, S3Error> {
    /// How often the bytes are looked for when overwrites keep removing the blob that was just looked up.
    const MAX_ATTEMPTS: usize = 5;
    let mut row = find_object(context, target).await?;
    for _ in 0..MAX_ATTEMPTS {
        match send_row(context, &row).await {
            Err(S3Error::Storage(StorageError::BlobMissing)) => {
                let current = find_object(context, target).await?;
                // The blob of the same version is still missing, so no overwrite removed it: it is lost.
                if current.version == row.version {
                    return Err(StorageError::BlobMissing.into());
                }
                row = current;
            }
            response => return response,
        }
    }
    Err(StorageError::BlobMissing.into())
}

/// The headers of the object, from the row alone.
///
/// # Errors
/// As [`get_object`].
pub(super) async fn head_object(context: &S3Context, target: &ObjectPath) -> Result<HttpResponse, S3Error> {
    let row = find_object(context, target).await?;
    let mut response =
        match evaluate_preconditions(&Validators::from_object(&row), |name| context.header(name)) {
            Precondition::Failed => return Err(S3Error::PreconditionFailed),
            Precondition::NotModified => return build_not_modified(context, &row),
            Precondition::Proceed => HttpResponse::Ok(),
        };
    describe_object(context, &mut response, &row)?;
    let size_bytes = row.size_bytes().unwrap_or(0);
    let mut length = size_bytes;
    if let Some(part) = requested_part(context, &row, size_bytes)? {
        describe_part(&mut response, part, size_bytes);
        length = part.range.map_or(0, ByteRange::length);
    }
    Ok(response.body(SizedStream::new(length, empty_stream())))
}

/// An empty set of tags, if the object exists.
///
/// # Errors
/// As [`get_object`].
pub(super) async fn get_object_tagging(
    context: &S3Context,
    target: &ObjectPath,
) -> Result<HttpResponse, S3Error> {
    find_object(context, target).await?;
    Ok(xml_response(Xml::document("Tagging", |xml| {
        xml.element("TagSet", |_| {});
    })))
}

async fn find_object(context: &S3Context, target: &ObjectPath) -> Result<ObjectRow, S3Error> {
    target.check_names()?;
    let wanted = WantedVersion::parse(context.parameter("versionId")?);
    match wanted.find(&context.caller, target).await {
        Err(error @ (S3Error::Storage(StorageError::NoSuchKey) | S3Error::NoSuchVersion)) => {
            // Tells a missing bucket from a missing key, which S3 clients treat differently.
            context.find_bucket(&target.bucket).await?;
            Err(error)
        }
        row => row,
    }
}

async fn send_row(context: &S3Context, row: &ObjectRow) -> Result<HttpResponse, S3Error> {
    match evaluate_preconditions(&Validators::from_object(row), |name| context.header(name)) {
        Precondition::Failed => return Err(S3Error::PreconditionFailed),
        Precondition::NotModified => return build_not_modified(context, row),
        Precondition::Proceed => {}
    }
    let version = row.blob_version().ok_or(StorageError::BlobMissing)?;
    let reader = context.storage().backend().open(version).await;
    let reader = reader.map_err(StorageError::from)?;
    let size_bytes = reader.size_bytes();
    let part = requested_part(context, row, size_bytes)?;
    let range = match context.http.request.headers().get(header::RANGE) {
        Some(value) => {
            Some(ByteRange::parse(value, size_bytes).ok_or(StorageError::InvalidRange { size_bytes })?)
        }
        None => part.and_then(|part| part.range),
    };
    let mut response = HttpResponse::Ok();
    describe_object(context, &mut response, row)?;
    if let Some(part) = part {
        describe_part(&mut response, part, size_bytes);
    } else if let Some(range) = range {
        describe_range(&mut response, range, size_bytes);
    }
    // Only an object without bytes has no range, and then its first part is the whole of it.
    let (offset, length) = range.map_or((0, size_bytes), |range| (range.first, range.length()));
    Ok(match reader.read(offset, length) {
        BlobBody::Whole(bytes) => response.body(bytes),
        BlobBody::Stream(stream) => response.body(SizedStream::new(length, stream)),
    })
}

/// The part that `partNumber` names.
///
/// # Errors
/// `InvalidRequest` together with `Range`; `InvalidArgument`, `InvalidPartNumber`.
fn requested_part(
    context: &S3Context,
    row: &ObjectRow,
    size_bytes: u64,
) -> Result<Option<ObjectPart>, S3Error> {
    let Some(number) = context.parameter("partNumber")? else {
        return Ok(None);
    };
    if context.http.request.headers().contains_key(header::RANGE) {
        return Err(S3Error::InvalidRequest(
            "Cannot specify both Range header and partNumber query parameter",
        ));
    }
    find_part(number, row.metadata.as_ref(), size_bytes).map(Some)
}

/// Makes it the response of one part.
fn describe_part(response: &mut HttpResponseBuilder, part: ObjectPart, size_bytes: u64) {
    if let Some(range) = part.range {
        describe_range(response, range, size_bytes);
    }
    if let Some(parts) = part.of {
        response.insert_header(("x-amz-mp-parts-count", parts.to_string()));
    }
}

/// Makes it a 206 of these bytes.
fn describe_range(response: &mut HttpResponseBuilder, range: ByteRange, size_bytes: u64) {
    let text = format!("bytes {}-{}/{size_bytes}", range.first, range.last);
    response
        .status(StatusCode::PARTIAL_CONTENT)
        .insert_header((header::CONTENT_RANGE, text));
}

fn build_not_modified(context: &S3Context, row: &ObjectRow) -> Result<HttpResponse, S3Error> {
    let mut response = HttpResponse::NotModified();
    describe_object(context, &mut response, row)?;
    Ok(response.finish())
}

/// Adds all headers that describe the object.
fn describe_object(
    context: &S3Context,
    response: &mut HttpResponseBuilder,
    row: &ObjectRow,
) -> Result<(), S3Error> {
    let validators = Validators::from_object(row);
    set_version_header(response, row);
    set_header(response, header::ETAG, &validators.etag);
    if let Some(modified) = validators.modified {
        response.insert_header((header::LAST_MODIFIED, HttpDate::from(modified)));
    }
    response.insert_header((header::ACCEPT_RANGES, "bytes"));
    let stored = row.mime_type().unwrap_or("application/octet-stream");
    // A presigned URL may be opened in a browser, so this type, too, decides about the sandbox.
    let sent = context.parameter("response-content-type")?.unwrap_or(stored);
    set_content_type(response, stored, sent);
    if let Some(cache_control) = row.cache_control() {
        set_header(response, header::CACHE_CONTROL, cache_control);
    }
    if let Some(content_encoding) = row.content_encoding() {
        set_header(response, header::CONTENT_ENCODING, content_encoding);
    }
    for (parameter, name) in OVERRIDES {
        // Text that cannot be a header is ignored.
        if let Some(value) = context.parameter(parameter)? {
            set_header(response, name, value);
        }
    }
    for (name, value) in object_headers::metadata_headers(row.user_metadata.as_ref()) {
        response.append_header((name, value));
    }
    Ok(())
}
