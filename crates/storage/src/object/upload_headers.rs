//! Headers that describe an upload, on all routes that take them.

use actix_web::http::header;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::Value;

use crate::context::RequestContext;
use crate::request::form::parse_json_object;

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

/// The declared size of the body in bytes; `None` for a chunked body.
pub(super) fn read_content_length(context: &RequestContext) -> Option<u64> {
    context.header(header::CONTENT_LENGTH.as_str())?.parse().ok()
}
