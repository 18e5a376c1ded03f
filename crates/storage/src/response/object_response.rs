//! The response that carries an object: conditions, ranges, and the stream of its bytes.
//!
//! Everything but the bytes comes from the row. Conditions are evaluated before the blob is opened, ranges after,
//! because the size in the row may have been written by SQL and only the blob's own size is reliable.

use actix_web::HttpResponse;
use actix_web::body::SizedStream;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HttpDate};
use bytes::Bytes;

use super::byte_range::ByteRange;
use super::object_headers::{Freshness, describe_object, set_freshness, set_header};
use super::validators::{CacheCondition, Validators, unix_seconds};
use crate::backend::BlobBody;
use crate::context::RequestContext;
use crate::database::object_row::ObjectRow;
use crate::error::StorageError;
use crate::render::Transform;

/// Serves GET or HEAD of the object that `lookup` finds.
///
/// An overwrite between the lookup and the opening of the blob removes that blob. Then the row is looked up again, so
/// that a reader gets the old version or the new one and never an error. Source: STORE-083.
///
/// # Errors
/// The error of `lookup`; `BlobMissing` when the row has no blob; `InvalidRange`.
pub(crate) async fn send_object(
    context: &RequestContext,
    freshness: Freshness,
    lookup: impl AsyncFn() -> Result<ObjectRow, StorageError>,
) -> Result<HttpResponse, StorageError> {
    /// How often the bytes are looked for when overwrites keep removing the blob that was just looked up.
    const MAX_ATTEMPTS: usize = 5;
    let mut row = lookup().await?;
    if context.is_head() {
        return send_head(context, &row, freshness);
    }
    for _ in 0..MAX_ATTEMPTS {
        match send_row(context, &row, freshness).await {
            Err(StorageError::BlobMissing) => {
                context.read_from_primary();
                let current = lookup().await?;
                // The row did not change, so no overwrite removed the blob: it is lost.
                if current.version == row.version {
                    return Err(StorageError::BlobMissing);
                }
                row = current;
            }
            response => return response,
        }
    }
    Err(StorageError::BlobMissing)
}

/// Serves HEAD from the row alone. Compat: the status is the stored one, never 304 or 206.
fn send_head(
    context: &RequestContext,
    row: &ObjectRow,
    freshness: Freshness,
) -> Result<HttpResponse, StorageError> {
    let status = row
        .http_status()
        .and_then(|status| StatusCode::from_u16(status).ok())
        .unwrap_or(StatusCode::OK);
    let mut response = HttpResponse::build(status);
    let validators = Validators::of_download(row);
    if let Some(transformations) = Transform::from_query(&context.query)?.header() {
        set_header(
            &mut response,
            HeaderName::from_static("x-transformations"),
            &transformations,
        );
    }
    let differs =
        CacheCondition::of_request(context).is_some_and(|condition| !condition.matches(&validators));
    describe_object(
        context,
        &mut response,
        row,
        &validators,
        freshness,
        differs.then_some("must-revalidate"),
    )?;
    // actix takes Content-Length from the body, which it does not send for HEAD.
    Ok(response.body(SizedStream::new(row.size_bytes().unwrap_or(0), empty_stream())))
}

/// The stream of a body whose length is announced and whose bytes are not sent.
pub(crate) fn empty_stream() -> impl futures_util::Stream<Item = Result<Bytes, std::io::Error>> {
    futures_util::stream::empty()
}

async fn send_row(
    context: &RequestContext,
    row: &ObjectRow,
    freshness: Freshness,
) -> Result<HttpResponse, StorageError> {
    let validators = Validators::of_download(row);
    let condition = CacheCondition::of_request(context);
    if condition
        .as_ref()
        .is_some_and(|condition| condition.matches(&validators))
    {
        return Ok(build_not_modified(context, row, &validators, freshness));
    }
    let version = row.blob_version().ok_or(StorageError::BlobMissing)?;
    let reader = context.storage().backend().open(version).await?;
    let size_bytes = reader.size_bytes();
    let range = match context.request.headers().get(header::RANGE) {
        // If-Range names another version, so the range does not fit: the whole object is sent (RFC 9110 §13.1.5).
        Some(_) if !if_range_matches(context, &validators) => None,
        Some(value) => {
            Some(ByteRange::parse(value, size_bytes).ok_or(StorageError::InvalidRange { size_bytes })?)
        }
        None => None,
    };

    let mut response = HttpResponse::build(if range.is_some() {
        StatusCode::PARTIAL_CONTENT
    } else {
        StatusCode::OK
    });
    let stale =
        matches!(condition, Some(CacheCondition::NoneMatch(_))).then_some("stale-while-revalidate=30");
    describe_object(context, &mut response, row, &validators, freshness, stale)?;
    let (offset, length) = range.map_or((0, size_bytes), |range| (range.first, range.length()));
    if let Some(range) = range {
        response.insert_header((
            header::CONTENT_RANGE,
            format!("bytes {}-{}/{size_bytes}", range.first, range.last),
        ));
    }
    Ok(match reader.read(offset, length) {
        BlobBody::Whole(bytes) => response.body(bytes),
        BlobBody::Stream(stream) => response.body(SizedStream::new(length, stream)),
    })
}

/// Whether `If-Range` is absent or names the served version: by its strong tag, or by its exact date.
fn if_range_matches(context: &RequestContext, validators: &Validators) -> bool {
    let Some(condition) = context.header("if-range") else {
        return true;
    };
    match condition.parse::<HttpDate>() {
        Ok(date) => validators.modified.map(unix_seconds) == Some(unix_seconds(date.into())),
        Err(_) => condition.trim() == validators.etag,
    }
}

fn build_not_modified(
    context: &RequestContext,
    row: &ObjectRow,
    validators: &Validators,
    freshness: Freshness,
) -> HttpResponse {
    let mut response = HttpResponse::NotModified();
    set_header(&mut response, header::ETAG, &validators.etag);
    if let Some(modified) = validators.modified {
        response.insert_header((header::LAST_MODIFIED, HttpDate::from(modified)));
    }
    set_freshness(context, &mut response, row, freshness, None);
    response.finish()
}
