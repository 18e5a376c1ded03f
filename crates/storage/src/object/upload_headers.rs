//! Headers that describe an upload, on all routes that take them.

use actix_web::http::header;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::Value;

use crate::context::RequestContext;
use crate::error::StorageError;
use crate::request::form::parse_json_object;
use crate::validation::content_encoding::parse_content_encoding;

/// Whether `x-upsert` requests to replace an existing object. Compat: only the exact text `true` does.
pub(super) fn wants_upsert(context: &RequestContext) -> bool {
    context.header("x-upsert") == Some("true")
}

/// User metadata from `x-metadata`: base64 of a JSON object. Anything else is ignored.
pub(super) fn read_user_metadata(context: &RequestContext) -> Option<Value> {
    let text = context.header("x-metadata")?;
    let bytes = STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok()?;
    parse_json_object(&bytes)
}

/// `Content-Encoding` of the body, which is stored as it is sent. Several headers are one list.
///
/// # Errors
/// `InvalidParameter`.
pub(super) fn read_content_encoding(context: &RequestContext) -> Result<Option<String>, StorageError> {
    let values = context.request.headers().get_all(header::CONTENT_ENCODING);
    let values: Vec<_> = values
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .collect();
    parse_content_encoding(Some(&values.join(", ")))
}

/// The declared size of the body in bytes; `None` for a chunked body.
pub(super) fn read_content_length(context: &RequestContext) -> Option<u64> {
    context.header(header::CONTENT_LENGTH.as_str())?.parse().ok()
}
