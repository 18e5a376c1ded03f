//! Headers of responses that carry an object: type, tag, date, caching, robots tag and file name, all from the row.

use std::time::{Duration, SystemTime};

use actix_web::HttpResponseBuilder;
use actix_web::http::header::{self, HeaderName, HeaderValue, HttpDate};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::validators::Validators;
use crate::context::RequestContext;
use crate::database::object_row::ObjectRow;
use crate::error::StorageError;
use crate::validation::content_type::ContentType;

/// Unix time of the year 10000. HTTP dates have four digits for the year, so a later one cannot be written.
const YEAR_10000: u64 = 253_402_300_800;

/// All characters but those that JavaScript's `encodeURIComponent` leaves as they are.
const URI_COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// The policy of objects that browsers may take for a document: opened as a page, they run no scripts, load nothing and
/// have an origin of their own. Styles stay, because SVG pictures contain them.
const SANDBOX: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";

/// Adds the type `sent` that an object of the type `stored` is served with, and the sandbox unless browsers run no scripts
/// in either.
///
/// A malformed type is served as bytes: it may come from SQL, or from a version that accepted it.
pub(crate) fn set_content_type(response: &mut HttpResponseBuilder, stored: &str, sent: &str) {
    let is_inert = |text| ContentType::parse(text).is_some_and(|parsed| parsed.is_inert());
    let value = ContentType::parse(sent).and_then(|_| HeaderValue::from_str(sent).ok());
    let value = value.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    response.insert_header((header::CONTENT_TYPE, value));
    response.insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    if !is_inert(stored) || !is_inert(sent) {
        response.insert_header((header::CONTENT_SECURITY_POLICY, SANDBOX));
    }
}

/// How long caches may keep the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// The object's stored `Cache-Control`.
    Stored,
    /// Until the signed URL expires (Unix time): `Expires`, and no `Cache-Control`.
    SignedUntil(Option<i64>),
}

/// Adds the headers of an image rendered from the object. It has another entity tag and supports no ranges.
///
/// # Errors `Schema` when `download` is given twice.
pub(crate) fn describe_rendered_image(
    context: &RequestContext,
    response: &mut HttpResponseBuilder,
    row: &ObjectRow,
    freshness: Freshness,
    variant: &str,
) -> Result<(), StorageError> {
    let validators = Validators::from_object(row);
    let etag = validators.etag.trim_matches('"');
    set_header(response, header::ETAG, &format!("\"{etag}-{variant}\""));
    if let Some(modified) = validators.modified {
        response.insert_header((header::LAST_MODIFIED, HttpDate::from(modified)));
    }
    response.insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    set_header(
        response,
        HeaderName::from_static("x-robots-tag"),
        row.robots_tag().unwrap_or("none"),
    );
    if let Some(name) = context.query.text("download")? {
        response.insert_header((header::CONTENT_DISPOSITION, format_disposition(name)));
    }
    set_freshness(context, response, row, freshness, None);
    Ok(())
}

/// Adds all headers that describe the object. `revalidation` is appended to its `Cache-Control`.
///
/// # Errors
/// `Schema` when `download` is given twice.
pub(super) fn describe_object(
    context: &RequestContext,
    response: &mut HttpResponseBuilder,
    row: &ObjectRow,
    validators: &Validators,
    freshness: Freshness,
    revalidation: Option<&str>,
) -> Result<(), StorageError> {
    let stored = row.mime_type().unwrap_or("application/octet-stream");
    // Compat: HTML is served as text, so that an uploaded page cannot run in the origin of the API.
    let content_type = if stored.contains("text/html") {
        "text/plain"
    } else {
        stored
    };
    set_content_type(response, stored, content_type);
    if let Some(content_encoding) = row.content_encoding() {
        set_header(response, header::CONTENT_ENCODING, content_encoding);
    }
    response.insert_header((header::ACCEPT_RANGES, "bytes"));
    set_header(response, header::ETAG, &validators.etag);
    if let Some(modified) = validators.modified {
        response.insert_header((header::LAST_MODIFIED, HttpDate::from(modified)));
    }
    // Compat: HEAD does not send the stored robots tag.
    let robots = if context.is_head() { None } else { row.robots_tag() };
    set_header(
        response,
        HeaderName::from_static("x-robots-tag"),
        robots.unwrap_or("none"),
    );
    if let Some(name) = context.query.text("download")? {
        response.insert_header((header::CONTENT_DISPOSITION, format_disposition(name)));
    }
    set_freshness(context, response, row, freshness, revalidation);
    Ok(())
}

/// Adds `Cache-Control` or `Expires`.
pub(super) fn set_freshness(
    context: &RequestContext,
    response: &mut HttpResponseBuilder,
    row: &ObjectRow,
    freshness: Freshness,
    revalidation: Option<&str>,
) {
    match freshness {
        Freshness::SignedUntil(expires_at) => {
            if let Some(seconds) = expires_at.and_then(|seconds| u64::try_from(seconds).ok()) {
                let end = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
                if let Some(end) = end.filter(|_| seconds < YEAR_10000) {
                    response.insert_header((header::EXPIRES, HttpDate::from(end)));
                }
            }
        }
        Freshness::Stored => {
            let shared = context.storage().config().shared_max_age_s;
            let conditional = context.request.headers().contains_key(header::IF_NONE_MATCH);
            let shared = (shared > 0 && conditional).then(|| format!("s-maxage={shared}"));
            let parts: Vec<&str> = [row.cache_control(), shared.as_deref(), revalidation]
                .into_iter()
                .flatten()
                .filter(|p| !p.is_empty())
                .collect();
            if !parts.is_empty() {
                set_header(response, header::CACHE_CONTROL, &parts.join(", "));
            }
        }
    }
}

/// Adds a header from stored text; text that cannot be a header is left out.
pub(crate) fn set_header(response: &mut HttpResponseBuilder, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.insert_header((name, value));
    }
}

/// `Content-Disposition` of `?download` and `?download=name`. Source: STORE-036.
fn format_disposition(name: &str) -> String {
    if name.is_empty() {
        // Compat: the original sends the semicolon.
        return "attachment;".to_owned();
    }
    let encoded = utf8_percent_encode(name, URI_COMPONENT);
    format!("attachment; filename={encoded}; filename*=UTF-8''{encoded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_036_file_names_are_encoded_like_encode_uri_component() {
        assert_eq!(format_disposition(""), "attachment;");
        assert_eq!(
            format_disposition("x y.png"),
            "attachment; filename=x%20y.png; filename*=UTF-8''x%20y.png"
        );
        let hostile = format_disposition("a\r\nSet-Cookie: \"x\"");
        assert!(!hostile.contains(['\r', '\n', '"']), "{hostile}");
    }
}
