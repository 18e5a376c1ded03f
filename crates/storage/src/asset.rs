//! The answer that carries an object's bytes: headers, conditions, ranges, and the stream itself.
//!
//! Everything but the bytes comes from the row. Conditions are decided before a blob is opened; ranges after, because
//! the blob's own size is the truth.

use std::time::{Duration, SystemTime};

use actix_web::body::SizedStream;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue, HttpDate};
use actix_web::{HttpResponse, HttpResponseBuilder};
use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::backend::BlobBody;
use crate::error::StorageError;
use crate::object_row::ObjectRow;
use crate::render::Transform;
use crate::serve::Call;

/// What JavaScript's `encodeURIComponent` leaves as it is, besides letters and digits.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// Whether a browser would run scripts of such a document: HTML and XML in all their spellings, SVG among them.
pub(crate) fn is_active(content_type: &str) -> bool {
    let essence = content_type
        .split(';')
        .next()
        .unwrap_or(content_type)
        .to_ascii_lowercase();
    essence.contains("html") || essence.contains("xml")
}

/// How long the answer may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// As stored with the object.
    Stored,
    /// Until the signed URL ends: `Expires`, and no `Cache-Control`.
    SignedUntil(Option<i64>),
}

/// Answers GET or HEAD for the object that `lookup` finds.
///
/// An overwrite between our lookup and our opening of the blob removes what we were about to read; then the row is looked
/// up again, so that a reader sees the old version or the new one and never a gap. Source: STORE-083.
///
/// # Errors
/// What `lookup` says; `BlobMissing` when the row has no bytes; `InvalidRange`.
pub(crate) async fn respond(
    call: &Call,
    freshness: Freshness,
    lookup: impl AsyncFn() -> Result<ObjectRow, StorageError>,
) -> Result<HttpResponse, StorageError> {
    /// Overwrites in a row that one reader follows.
    const ATTEMPTS: usize = 5;
    let mut row = lookup().await?;
    if call.is_head() {
        return head(call, &row, freshness);
    }
    for _ in 0..ATTEMPTS {
        match send(call, &row, freshness).await {
            Err(StorageError::BlobMissing) => {
                let current = lookup().await?;
                if current.version == row.version {
                    return Err(StorageError::BlobMissing);
                }
                row = current;
            }
            answer => return answer,
        }
    }
    Err(StorageError::BlobMissing)
}

/// HEAD: all from the row, no blob access, never 304 or 206.
fn head(call: &Call, row: &ObjectRow, freshness: Freshness) -> Result<HttpResponse, StorageError> {
    let status = row
        .http_status()
        .and_then(|status| StatusCode::from_u16(status).ok())
        .unwrap_or(StatusCode::OK);
    let mut response = HttpResponse::build(status);
    let validators = Validators::of(row);
    if let Some(done) = Transform::of_query(&call.query)?.header() {
        set(&mut response, HeaderName::from_static("x-transformations"), &done);
    }
    let differs = Precondition::of(call).is_some_and(|condition| !condition.matches(&validators));
    describe(
        call,
        &mut response,
        row,
        &validators,
        freshness,
        differs.then_some("must-revalidate"),
    )?;
    // A body of the object's size that is never sent: the way to say Content-Length in an answer without bytes.
    Ok(response.body(SizedStream::new(row.size_bytes().unwrap_or(0), no_bytes())))
}

pub(crate) fn no_bytes() -> impl futures_util::Stream<Item = Result<Bytes, std::io::Error>> {
    futures_util::stream::empty()
}

async fn send(call: &Call, row: &ObjectRow, freshness: Freshness) -> Result<HttpResponse, StorageError> {
    let validators = Validators::of(row);
    let condition = Precondition::of(call);
    if condition
        .as_ref()
        .is_some_and(|condition| condition.matches(&validators))
    {
        return Ok(not_modified(call, row, &validators, freshness));
    }
    let version = row.blob_version().ok_or(StorageError::BlobMissing)?;
    let reader = call.storage().backend().open(version).await?;
    let size_bytes = reader.size_bytes();
    let range = match call.request.headers().get(header::RANGE) {
        // Whoever resumes another version gets all of this one.
        Some(_) if !is_same_version(call, &validators) => None,
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
    let stale = matches!(condition, Some(Precondition::NoneMatch(_))).then_some("stale-while-revalidate=30");
    describe(call, &mut response, row, &validators, freshness, stale)?;
    let (offset, length) = range.map_or((0, size_bytes), |range| {
        (range.first, range.last - range.first + 1)
    });
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

/// Whether `If-Range`, if there is one, names the version that is served: by its strong tag, or by its exact date.
fn is_same_version(call: &Call, validators: &Validators) -> bool {
    let Some(condition) = call.header("if-range") else {
        return true;
    };
    match condition.parse::<HttpDate>() {
        Ok(date) => validators.modified.map(seconds) == Some(seconds(date.into())),
        Err(_) => condition.trim() == validators.etag,
    }
}

fn not_modified(call: &Call, row: &ObjectRow, validators: &Validators, freshness: Freshness) -> HttpResponse {
    let mut response = HttpResponse::NotModified();
    set(&mut response, header::ETAG, &validators.etag);
    if let Some(modified) = validators.modified {
        response.insert_header((header::LAST_MODIFIED, HttpDate::from(modified)));
    }
    set_freshness(call, &mut response, row, freshness, None);
    response.finish()
}

/// The headers of a picture made from the object: its own tag, and no ranges.
///
/// # Errors
/// `Schema` for a doubled `download`.
pub(crate) fn describe_rendered(
    call: &Call,
    response: &mut HttpResponseBuilder,
    row: &ObjectRow,
    freshness: Freshness,
    variant: &str,
) -> Result<(), StorageError> {
    let validators = Validators::of(row);
    let etag = validators.etag.trim_matches('"');
    set(response, header::ETAG, &format!("\"{etag}-{variant}\""));
    if let Some(modified) = validators.modified {
        response.insert_header((header::LAST_MODIFIED, HttpDate::from(modified)));
    }
    response.insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    set(
        response,
        HeaderName::from_static("x-robots-tag"),
        row.robots_tag().unwrap_or("none"),
    );
    if let Some(name) = call.query.text("download")? {
        response.insert_header((header::CONTENT_DISPOSITION, disposition(name)));
    }
    set_freshness(call, response, row, freshness, None);
    Ok(())
}

/// All headers that describe the object.
fn describe(
    call: &Call,
    response: &mut HttpResponseBuilder,
    row: &ObjectRow,
    validators: &Validators,
    freshness: Freshness,
    revalidation: Option<&str>,
) -> Result<(), StorageError> {
    let stored = row.mime_type().unwrap_or("application/octet-stream");
    let content_type = if stored.contains("text/html") {
        "text/plain"
    } else {
        stored
    };
    // Stored text may stem from SQL: what cannot be a header is replaced, never sent.
    let content_type =
        HeaderValue::from_str(content_type).unwrap_or(HeaderValue::from_static("application/octet-stream"));
    response.insert_header((header::CONTENT_TYPE, content_type));
    response.insert_header((header::ACCEPT_RANGES, "bytes"));
    response.insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    set(response, header::ETAG, &validators.etag);
    if let Some(modified) = validators.modified {
        response.insert_header((header::LAST_MODIFIED, HttpDate::from(modified)));
    }
    if is_active(stored) {
        // Whatever opens it as a page gives it no scripts and no origin.
        response.insert_header((header::CONTENT_SECURITY_POLICY, "sandbox"));
    }
    let robots = if call.is_head() { None } else { row.robots_tag() };
    set(
        response,
        HeaderName::from_static("x-robots-tag"),
        robots.unwrap_or("none"),
    );
    if let Some(name) = call.query.text("download")? {
        response.insert_header((header::CONTENT_DISPOSITION, disposition(name)));
    }
    set_freshness(call, response, row, freshness, revalidation);
    Ok(())
}

fn set_freshness(
    call: &Call,
    response: &mut HttpResponseBuilder,
    row: &ObjectRow,
    freshness: Freshness,
    revalidation: Option<&str>,
) {
    match freshness {
        Freshness::SignedUntil(expires_at) => {
            if let Some(seconds) = expires_at.and_then(|seconds| u64::try_from(seconds).ok()) {
                let end = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
                if let Some(end) = end.filter(|_| seconds < 253_402_300_800) {
                    response.insert_header((header::EXPIRES, HttpDate::from(end)));
                }
            }
        }
        Freshness::Stored => {
            let shared = call.storage().config().shared_max_age_s;
            let conditional = call.request.headers().contains_key(header::IF_NONE_MATCH);
            let shared = (shared > 0 && conditional).then(|| format!("s-maxage={shared}"));
            let parts: Vec<&str> = [row.cache_control(), shared.as_deref(), revalidation]
                .into_iter()
                .flatten()
                .filter(|p| !p.is_empty())
                .collect();
            if !parts.is_empty() {
                set(response, header::CACHE_CONTROL, &parts.join(", "));
            }
        }
    }
}

/// Sets a header from stored text; text that cannot be a header is left out.
pub(crate) fn set(response: &mut HttpResponseBuilder, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.insert_header((name, value));
    }
}

/// `Content-Disposition` of `?download` and `?download=name`. Source: STORE-036.
fn disposition(name: &str) -> String {
    if name.is_empty() {
        return "attachment;".to_owned();
    }
    let encoded = utf8_percent_encode(name, COMPONENT);
    format!("attachment; filename={encoded}; filename*=UTF-8''{encoded}")
}

/// What a client compares its copy with.
pub(crate) struct Validators {
    pub(crate) etag: String,
    pub(crate) modified: Option<SystemTime>,
}

impl Validators {
    pub(crate) fn of(row: &ObjectRow) -> Self {
        let etag = row.etag().map(str::to_owned);
        Self {
            // Rows written by SQL have no tag; their version changes with the bytes, so it serves as one.
            etag: etag
                .or_else(|| row.version.as_ref().map(|version| format!("\"{version}\"")))
                .unwrap_or_default(),
            modified: row.last_modified().map(SystemTime::from),
        }
    }
}

/// The condition of a request, as RFC 9110 ranks them: a tag beats a date.
enum Precondition {
    NoneMatch(String),
    ModifiedSince(SystemTime),
}

impl Precondition {
    fn of(call: &Call) -> Option<Self> {
        if let Some(tags) = call.header("if-none-match") {
            return Some(Self::NoneMatch(tags.to_owned()));
        }
        let date: HttpDate = call.header("if-modified-since")?.parse().ok()?;
        Some(Self::ModifiedSince(date.into()))
    }

    /// Whether the client's copy is the current one.
    fn matches(&self, validators: &Validators) -> bool {
        match self {
            Self::NoneMatch(tags) => {
                tags.trim() == "*"
                    || tags.split(',').any(|tag| {
                        let tag = tag.trim();
                        tag.strip_prefix("W/").unwrap_or(tag) == validators.etag
                    })
            }
            // Compared in whole seconds: a header cannot say more.
            Self::ModifiedSince(date) => validators
                .modified
                .is_some_and(|modified| seconds(modified) <= seconds(*date)),
        }
    }
}

pub(crate) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// One satisfiable range, both ends inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ByteRange {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl ByteRange {
    /// Reads `bytes=a-b`, `bytes=a-` or `bytes=-n` against a size. Compat: all else, also several ranges, is refused.
    pub(crate) fn parse(value: &HeaderValue, size_bytes: u64) -> Option<Self> {
        let (first, last) = value.to_str().ok()?.strip_prefix("bytes=")?.split_once('-')?;
        let number = |text: &str| -> Option<u64> {
            if text.bytes().all(|b| b.is_ascii_digit()) {
                text.parse().ok()
            } else {
                None
            }
        };
        let end = size_bytes.checked_sub(1)?;
        let (first, last) = match (first, last) {
            ("", suffix) => {
                let suffix = number(suffix).filter(|n| *n > 0)?;
                (size_bytes.saturating_sub(suffix), end)
            }
            (first, "") => (number(first)?, end),
            (first, last) => (number(first)?, number(last)?.min(end)),
        };
        (first <= last && first < size_bytes).then_some(Self { first, last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_038_ranges_are_clamped_or_refused() {
        let parse = |text: &str, size| ByteRange::parse(&HeaderValue::from_str(text).expect("header"), size);
        let range = |first, last| Some(ByteRange { first, last });
        let cases = [
            ("bytes=0-9", 20, range(0, 9)),
            ("bytes=5-", 20, range(5, 19)),
            ("bytes=-5", 20, range(15, 19)),
            ("bytes=-50", 20, range(0, 19)),
            ("bytes=10-99", 20, range(10, 19)),
            ("bytes=20-", 20, None),
            ("bytes=9-2", 20, None),
            ("bytes=-0", 20, None),
            ("bytes=", 20, None),
            ("bytes=a-b", 20, None),
            ("bytes=0-1,3-4", 20, None),
            ("bytes=1-2-3", 20, None),
            ("bytes=+1-2", 20, None),
            ("bytes= 0-3", 20, None),
            ("items=0-5", 20, None),
            ("BYTES=0-3", 20, None),
            ("bytes=0-", 0, None),
            ("bytes=-5", 0, None),
            ("bytes=99999999999999999999-", 20, None),
        ];
        for (text, size, expected) in cases {
            assert_eq!(parse(text, size), expected, "{text} of {size}");
        }
    }

    #[test]
    fn store_036_names_are_encoded_like_encode_uri_component() {
        assert_eq!(disposition(""), "attachment;");
        assert_eq!(
            disposition("x y.png"),
            "attachment; filename=x%20y.png; filename*=UTF-8''x%20y.png"
        );
        let hostile = disposition("a\r\nSet-Cookie: \"x\"");
        assert!(!hostile.contains(['\r', '\n', '"']), "{hostile}");
    }

    #[test]
    fn store_039_tags_match_in_lists_weakly_and_by_star() {
        let validators = Validators {
            etag: "\"abc\"".to_owned(),
            modified: None,
        };
        for (tags, expected) in [
            ("\"abc\"", true),
            ("\"x\", W/\"abc\"", true),
            ("*", true),
            ("abc", false),
            ("\"x\"", false),
        ] {
            assert_eq!(
                Precondition::NoneMatch(tags.to_owned()).matches(&validators),
                expected,
                "{tags}"
            );
        }
    }
}
