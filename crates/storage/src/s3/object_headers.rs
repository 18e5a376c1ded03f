//! Headers that describe an object in uploads and downloads: type, cache-control, encoding and `x-amz-meta-*`.

use actix_web::HttpRequest;
use actix_web::http::header::{CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::context::S3Context;
use super::error::S3Error;
use crate::database::object_row::Declared;
use crate::error::StorageError;
use crate::validation::content_encoding::{parse_content_encoding, without_transfer_coding};
use crate::validation::content_type::ContentType;

/// Type of an object without a Content-Type.
const DEFAULT_MIME_TYPE: &str = "application/octet-stream";
/// Prefix of headers with user metadata.
const META_PREFIX: &str = "x-amz-meta-";
/// Most headers with user metadata in a response. Python's `http.client` gives up at 100 headers of all kinds.
const MAX_META_ENTRIES: usize = 50;
/// Most bytes of their names and values: the limit of S3.
const MAX_META_BYTES: usize = 2048;

/// Type, cache-control and encoding of an upload.
///
/// # Errors
/// `InvalidMimeType`, `InvalidHeaderCharacter`, `InvalidParameter`: downloads send them as headers, so they must be valid ones.
pub(super) fn read_declared(
    mime_type: Option<&str>,
    cache_control: Option<&str>,
    content_encoding: Option<&str>,
) -> Result<Declared, S3Error> {
    let mime_type = mime_type
        .filter(|text| !text.is_empty())
        .unwrap_or(DEFAULT_MIME_TYPE);
    if ContentType::parse(mime_type).is_none() {
        return Err(StorageError::InvalidMimeType(mime_type.to_owned()).into());
    }
    let cache_control = cache_control
        .filter(|text| !text.is_empty())
        .unwrap_or("no-cache");
    if cache_control.chars().any(char::is_control) {
        return Err(StorageError::InvalidHeaderCharacter("cache-control").into());
    }
    let content_encoding = content_encoding.map(without_transfer_coding);
    Ok(Declared {
        mime_type: mime_type.to_owned(),
        cache_control: cache_control.to_owned(),
        content_encoding: parse_content_encoding(content_encoding.as_deref())?,
        robots_tag: None,
    })
}

/// The same, from the headers of a request.
///
/// # Errors
/// As [`read_declared`].
pub(super) fn read_declared_headers(context: &S3Context) -> Result<Declared, S3Error> {
    // Several headers are one list, such as `aws-chunked` and `gzip`.
    let codings = context.http.request.headers().get_all(CONTENT_ENCODING);
    let codings: Vec<_> = codings
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .collect();
    read_declared(
        context.header("content-type"),
        context.header("cache-control"),
        Some(&codings.join(", ")),
    )
}

/// `x-amz-meta-*` as a JSON object; values of repeated headers are joined by commas.
pub(super) fn read_user_metadata(request: &HttpRequest) -> Value {
    let mut metadata = Map::new();
    for (name, value) in request.headers() {
        let Some(name) = name
            .as_str()
            .strip_prefix(META_PREFIX)
            .filter(|name| !name.is_empty())
        else {
            continue;
        };
        let text = String::from_utf8_lossy(value.as_bytes());
        match metadata.get_mut(name) {
            Some(Value::String(known)) => known.push_str(&format!(",{text}")),
            _ => {
                metadata.insert(name.to_owned(), Value::String(text.into_owned()));
            }
        }
    }
    Value::Object(metadata)
}

/// User metadata as headers. Entries that cannot be a header are counted in `x-amz-missing-meta`, as S3 does, and so are
/// those beyond [`MAX_META_ENTRIES`] and [`MAX_META_BYTES`]: uploads by the other routes may have more, and one object
/// with too many headers makes clients fail on every list and synchronisation that meets it.
pub(super) fn metadata_headers(metadata: Option<&Value>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let (mut missing, mut bytes) = (0, 0);
    for (name, value) in metadata.and_then(Value::as_object).into_iter().flatten() {
        let text = match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            _ => None,
        };
        let text = text.filter(|text| text.bytes().all(|b| (0x20..0x7f).contains(&b)));
        let name = HeaderName::try_from(format!("{META_PREFIX}{}", name.to_ascii_lowercase())).ok();
        match (name, text.and_then(|text| HeaderValue::from_str(&text).ok())) {
            (Some(name), Some(value)) if headers.len() < MAX_META_ENTRIES => {
                let size = name.as_str().len() - META_PREFIX.len() + value.len();
                if bytes + size > MAX_META_BYTES {
                    missing += 1;
                    continue;
                }
                bytes += size;
                headers.append(name, value);
            }
            _ => missing += 1,
        }
    }
    if missing > 0 {
        headers.insert(
            HeaderName::from_static("x-amz-missing-meta"),
            HeaderValue::from(missing),
        );
    }
    headers
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn store_095_metadata_that_cannot_be_a_header_is_counted() {
        let metadata = json!({
            "Plain": "x y", "number": 3, "unicode": "é", "break": "a\r\nset-cookie: b", "bad name": "x", "deep": {}
        });

        let headers = metadata_headers(Some(&metadata));

        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        assert_eq!(text("x-amz-meta-plain"), Some("x y"));
        assert_eq!(text("x-amz-meta-number"), Some("3"));
        assert_eq!(text("x-amz-missing-meta"), Some("4"));
        assert_eq!(headers.len(), 3);
    }

    #[test]
    fn store_095_metadata_beyond_what_clients_read_is_counted() {
        let many: Map<String, Value> = (0..150).map(|n| (format!("k{n}"), json!("v"))).collect();
        let long = json!({"a": "x".repeat(2000), "b": "y".repeat(100), "c": "z"});
        let missing = |metadata: &Value| {
            let headers = metadata_headers(Some(metadata));
            let count = headers
                .get("x-amz-missing-meta")
                .and_then(|value| value.to_str().ok());
            (headers.len() - 1, count.map(str::to_owned))
        };

        assert_eq!(missing(&Value::Object(many)), (50, Some("100".to_owned())));
        assert_eq!(missing(&long), (2, Some("1".to_owned())));
    }
}
