//! Reading an object: GET, HEAD, and its tags, of which there are none.

use actix_web::body::SizedStream;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HttpDate};
use actix_web::{HttpResponse, HttpResponseBuilder};

use super::conditions::{Verdict, decide};
use super::error::S3Error;
use super::xml::{Xml, answer};
use super::{S3Call, check_target, declared};
use crate::asset::{ByteRange, Validators, is_active, no_bytes, set};
use crate::backend::BlobBody;
use crate::error::StorageError;
use crate::object::find;
use crate::object_row::ObjectRow;
use crate::route::ObjectPath;

/// Parameters of the query that replace headers of the answer.
const OVERRIDES: [(&str, header::HeaderName); 5] = [
    ("response-cache-control", header::CACHE_CONTROL),
    ("response-content-disposition", header::CONTENT_DISPOSITION),
    ("response-content-encoding", header::CONTENT_ENCODING),
    ("response-content-language", header::CONTENT_LANGUAGE),
    ("response-expires", header::EXPIRES),
];

/// The bytes, or a range of them.
///
/// # Errors
/// `NoSuchBucket`, `NoSuchKey` also for what is hidden, `PreconditionFailed`, `InvalidRange`.
pub(super) async fn get_object(call: &S3Call, target: &ObjectPath) -> Result<HttpResponse, S3Error> {
    /// Overwrites in a row that one reader follows.
    const ATTEMPTS: usize = 5;
    let mut row = find_visible(call, target).await?;
    for _ in 0..ATTEMPTS {
        match send(call, &row).await {
            Err(S3Error::Storage(StorageError::BlobMissing)) => {
                let current = find_visible(call, target).await?;
                if current.version == row.version {
                    return Err(StorageError::BlobMissing.into());
                }
                row = current;
            }
            answer => return answer,
        }
    }
    Err(StorageError::BlobMissing.into())
}

/// All but the bytes, from the row.
///
/// # Errors
/// As [`get_object`].
pub(super) async fn head_object(call: &S3Call, target: &ObjectPath) -> Result<HttpResponse, S3Error> {
    let row = find_visible(call, target).await?;
    let mut response = match decide(&Validators::of(&row), |name| call.header(name)) {
        Verdict::Failed => return Err(S3Error::PreconditionFailed),
        Verdict::NotModified => return not_modified(call, &row),
        Verdict::Proceed => HttpResponse::Ok(),
    };
    describe(call, &mut response, &row)?;
    Ok(response.body(SizedStream::new(row.size_bytes().unwrap_or(0), no_bytes())))
}

/// An empty set, if the object is there.
///
/// # Errors
/// As [`get_object`].
pub(super) async fn get_tagging(call: &S3Call, target: &ObjectPath) -> Result<HttpResponse, S3Error> {
    find_visible(call, target).await?;
    Ok(answer(Xml::document("Tagging", |xml| {
        xml.element("TagSet", |_| {});
    })))
}

async fn find_visible(call: &S3Call, target: &ObjectPath) -> Result<ObjectRow, S3Error> {
    check_target(target)?;
    match find::get_visible(&call.caller, target).await {
        Err(StorageError::NoSuchKey) => {
            call.bucket(&target.bucket).await?;
            Err(StorageError::NoSuchKey.into())
        }
        row => Ok(row?),
    }
}

async fn send(call: &S3Call, row: &ObjectRow) -> Result<HttpResponse, S3Error> {
    match decide(&Validators::of(row), |name| call.header(name)) {
        Verdict::Failed => return Err(S3Error::PreconditionFailed),
        Verdict::NotModified => return not_modified(call, row),
        Verdict::Proceed => {}
    }
    let version = row.blob_version().ok_or(StorageError::BlobMissing)?;
    let reader = call.call.storage().backend().open(version).await;
    let reader = reader.map_err(StorageError::from)?;
    let size_bytes = reader.size_bytes();
    let range = match call.call.request.headers().get(header::RANGE) {
        Some(value) => {
            Some(ByteRange::parse(value, size_bytes).ok_or(StorageError::InvalidRange { size_bytes })?)
        }
        None => None,
    };
    let mut response = HttpResponse::build(match range {
        Some(_) => StatusCode::PARTIAL_CONTENT,
        None => StatusCode::OK,
    });
    describe(call, &mut response, row)?;
    let (offset, length) = range.map_or((0, size_bytes), |range| {
        (range.first, range.last - range.first + 1)
    });
    if let Some(range) = range {
        let text = format!("bytes {}-{}/{size_bytes}", range.first, range.last);
        response.insert_header((header::CONTENT_RANGE, text));
    }
    Ok(match reader.read(offset, length) {
        BlobBody::Whole(bytes) => response.body(bytes),
        BlobBody::Stream(stream) => response.body(SizedStream::new(length, stream)),
    })
}

fn not_modified(call: &S3Call, row: &ObjectRow) -> Result<HttpResponse, S3Error> {
    let mut response = HttpResponse::NotModified();
    describe(call, &mut response, row)?;
    Ok(response.finish())
}

/// All headers that describe the object.
fn describe(call: &S3Call, response: &mut HttpResponseBuilder, row: &ObjectRow) -> Result<(), S3Error> {
    let validators = Validators::of(row);
    set(response, header::ETAG, &validators.etag);
    if let Some(modified) = validators.modified {
        response.insert_header((header::LAST_MODIFIED, HttpDate::from(modified)));
    }
    response.insert_header((header::ACCEPT_RANGES, "bytes"));
    response.insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    response.insert_header((header::CONTENT_TYPE, "application/octet-stream"));
    let stored = row.mime_type().unwrap_or("application/octet-stream");
    set(response, header::CONTENT_TYPE, stored);
    let content_type = call.parameter("response-content-type")?;
    if let Some(content_type) = content_type {
        set(response, header::CONTENT_TYPE, content_type);
    }
    if is_active(content_type.unwrap_or(stored)) || is_active(stored) {
        // A presigned URL may be opened in a browser: whatever it shows gets no scripts and no origin.
        response.insert_header((header::CONTENT_SECURITY_POLICY, "sandbox"));
    }
    if let Some(cache_control) = row.cache_control() {
        set(response, header::CACHE_CONTROL, cache_control);
    }
    for (parameter, name) in OVERRIDES {
        // Text that cannot be a header is ignored.
        if let Some(value) = call.parameter(parameter)? {
            set(response, name, value);
        }
    }
    for (name, value) in declared::meta_headers(row.user_metadata.as_ref()) {
        response.append_header((name, value));
    }
    Ok(())
}
