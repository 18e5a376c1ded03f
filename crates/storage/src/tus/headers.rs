//! Reads and checks the headers of the TUS protocol, including the pairs of `Upload-Metadata`.

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::HeaderMap;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::error::TusError;
use super::protocol::{OFFSET_STREAM, TUS_RESUMABLE, VERSION};
use crate::error::StorageError;
use crate::request::form::parse_json_object;
use crate::validation::content_encoding::parse_content_encoding;

/// Largest integer that the protocol's JavaScript clients can represent.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Checks the protocol version, which is required, and the form of every other header of the protocol that is present.
///
/// # Errors
/// `VersionRequired`; `InvalidHeaders` with the names of all that are malformed.
pub(super) fn check_headers(request: &HttpRequest) -> Result<(), TusError> {
    let headers = request.headers();
    if !headers.contains_key(TUS_RESUMABLE) {
        return Err(TusError::VersionRequired);
    }
    type Rule = fn(&str) -> bool;
    let rules: [(&'static str, Rule); 6] = [
        (TUS_RESUMABLE, |text| text == VERSION),
        ("upload-offset", |text| parse_number(text).is_some()),
        ("upload-length", |text| parse_number(text).is_some()),
        ("upload-defer-length", |text| text == "1"),
        ("upload-metadata", |text| UploadMetadata::parse(text).is_some()),
        ("content-type", |text| text == OFFSET_STREAM),
    ];
    let invalid: Vec<&'static str> = rules
        .into_iter()
        // Only PATCH requires this type; some HTTP clients send another type with every method.
        .filter(|(name, _)| *name != "content-type" || request.method() == Method::PATCH)
        .filter(|(name, rule)| {
            headers
                .get_all(*name)
                .any(|value| !value.to_str().is_ok_and(rule))
        })
        .map(|(name, _)| name)
        .collect();
    if invalid.is_empty() {
        Ok(())
    } else {
        Err(TusError::InvalidHeaders(invalid))
    }
}

/// A header as text.
pub(super) fn find_text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// A header as a number; `None` when absent. [`check_headers`] has refused malformed ones.
pub(super) fn find_number(headers: &HeaderMap, name: &str) -> Option<u64> {
    find_text(headers, name).and_then(parse_number)
}

/// Decimal digits without a sign or a leading zero.
fn parse_number(text: &str) -> Option<u64> {
    let canonical = text == "0" || !text.starts_with('0');
    if !canonical || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|n| *n <= MAX_SAFE_INTEGER)
}

/// `Upload-Metadata`: names with base64 values, in the order of the header.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UploadMetadata(Vec<(String, Option<Vec<u8>>)>);

impl UploadMetadata {
    /// Reads `name base64,name base64`; the value may be missing. `None` when an entry is malformed or a name occurs
    /// twice.
    pub(super) fn parse(header: &str) -> Option<Self> {
        let mut entries: Vec<(String, Option<Vec<u8>>)> = Vec::new();
        for entry in header.split(',') {
            let (name, value) = match entry.split_once(' ') {
                Some((name, value)) => (name, Some(STANDARD.decode(value).ok()?)),
                None => (entry, None),
            };
            let legal = !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic());
            if !legal || entries.iter().any(|(known, _)| known == name) {
                return None;
            }
            entries.push((name.to_owned(), value));
        }
        Some(Self(entries))
    }

    /// Returns a value as text: empty when it is missing, with replacement characters where it is not UTF-8.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let value = self.0.iter().find(|(known, _)| known == name)?.1.as_ref();
        Some(
            value
                .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
                .unwrap_or_default(),
        )
    }

    /// `metadata`: the JSON object that becomes the user metadata; anything else is ignored.
    pub(super) fn user_metadata(&self) -> Option<Value> {
        parse_json_object(self.text("metadata")?.as_bytes())
    }

    /// The `Cache-Control` of the object: `max-age` with whole seconds. Compat: any other value means `no-cache`.
    pub(super) fn cache_control(&self) -> String {
        match self.text("cacheControl").map(|text| text.trim().parse::<u64>()) {
            Some(Ok(seconds)) => format!("max-age={seconds}"),
            _ => "no-cache".to_owned(),
        }
    }

    /// `contentEncoding`, which is stored with the object.
    ///
    /// # Errors
    /// `InvalidParameter`.
    pub(super) fn content_encoding(&self) -> Result<Option<String>, StorageError> {
        parse_content_encoding(self.text("contentEncoding").as_deref())
    }

    /// Value of `Upload-Metadata` in the response to HEAD: the client's own, encoded again. Compat: `cacheControl` is replaced by the object's `Cache-Control`.
    pub(super) fn response_value(&self) -> String {
        let cache_control = STANDARD.encode(self.cache_control());
        let mut parts: Vec<String> = self
            .0
            .iter()
            .map(|(name, value)| match (name.as_str(), value) {
                ("cacheControl", _) => format!("cacheControl {cache_control}"),
                (name, Some(value)) => format!("{name} {}", STANDARD.encode(value)),
                (name, None) => name.to_owned(),
            })
            .collect();
        if !self.0.iter().any(|(name, _)| name == "cacheControl") {
            parts.push(format!("cacheControl {cache_control}"));
        }
        parts.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_087_upload_metadata_keeps_its_order_when_echoed() {
        let metadata =
            UploadMetadata::parse("bucketName Yg==,flag,objectName YS9iLnR4dA==,cacheControl NjA=")
                .expect("well-formed");

        assert_eq!(metadata.text("bucketName").as_deref(), Some("b"));
        assert_eq!(metadata.text("objectName").as_deref(), Some("a/b.txt"));
        assert_eq!(metadata.text("flag").as_deref(), Some(""));
        assert_eq!(metadata.text("none"), None);
        assert_eq!(metadata.cache_control(), "max-age=60");
        assert_eq!(
            metadata.response_value(),
            "bucketName Yg==,flag,objectName YS9iLnR4dA==,cacheControl bWF4LWFnZT02MA=="
        );
    }

    #[test]
    fn store_088_malformed_upload_metadata_is_refused() {
        for bad in [
            "",
            " ",
            "a !!!",
            "a YQ",
            "a YQ==,a YQ==",
            "a  YQ==",
            "a YQ==, b YQ==",
            ",",
            "ü YQ==",
        ] {
            assert_eq!(UploadMetadata::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn store_088_numbers_have_no_sign_or_leading_zero() {
        for (text, expected) in [
            ("0", Some(0)),
            ("17", Some(17)),
            ("9007199254740991", Some(MAX_SAFE_INTEGER)),
            ("9007199254740992", None),
            ("-1", None),
            ("+1", None),
            ("01", None),
            ("1.5", None),
            ("", None),
            ("abc", None),
        ] {
            assert_eq!(parse_number(text), expected, "{text}");
        }
    }

    #[test]
    fn store_008_cache_control_is_max_age_or_no_cache() {
        for (value, expected) in [
            ("MzYwMA==", "max-age=3600"),
            ("bm8=", "no-cache"),
            ("LTE=", "no-cache"),
        ] {
            let metadata = UploadMetadata::parse(&format!("cacheControl {value}")).expect("well-formed");
            assert_eq!(metadata.cache_control(), expected);
        }
    }
}
