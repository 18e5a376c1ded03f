//! The `Content-Encoding` that an upload stores with an object and downloads send. The service itself neither encodes nor decodes.

use crate::error::StorageError;

/// Longest value in bytes.
const MAX_BYTES: usize = 255;
/// The coding of an S3 request's body, which is taken off before the bytes are stored.
const TRANSFER_CODING: &str = "aws-chunked";

/// The codings of the frame in which bytes are sent. Stored with an object, they would make browsers look for frames in its bytes.
const CODINGS_OF_FRAMES: [&str; 2] = ["chunked", TRANSFER_CODING];

/// A checked value, which becomes a header of every download: a list of codings (RFC 9110 §8.4). A blank one means none.
///
/// # Errors
/// `InvalidParameter`.
pub(crate) fn parse_content_encoding(value: Option<&str>) -> Result<Option<String>, StorageError> {
    let value = value.unwrap_or_default();
    // Empty elements of a list are passed over (RFC 9110 §5.6.1).
    let codings = value
        .split(',')
        .map(str::trim)
        .filter(|coding| !coding.is_empty());
    let codings: Vec<&str> = codings.collect();
    let is_stored = |coding: &&str| {
        is_token(coding)
            && !CODINGS_OF_FRAMES
                .iter()
                .any(|frame| coding.eq_ignore_ascii_case(frame))
    };
    if value.len() > MAX_BYTES || !codings.iter().all(is_stored) {
        return Err(StorageError::InvalidParameter("contentEncoding"));
    }
    Ok((!codings.is_empty()).then(|| codings.join(", ")))
}

/// Whether a text is a token of HTTP (RFC 9110 §5.6.2).
fn is_token(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_letter)
}

/// The codings of an S3 request without that of its transfer.
pub(crate) fn without_transfer_coding(value: &str) -> String {
    let codings = value.split(',').map(str::trim);
    let stored = codings.filter(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(TRANSFER_CODING));
    stored.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_242_encodings_are_lists_of_codings_with_at_most_255_characters() {
        let longest = "x".repeat(255);
        for good in ["gzip", "br", "gzip, br", "x-own", &longest] {
            assert_eq!(
                parse_content_encoding(Some(good)).expect(good).as_deref(),
                Some(good)
            );
        }
        for bad in [
            "gzip\r\nset-cookie: a=b",
            "gz\0ip",
            "gzïp",
            "x y z",
            ";",
            "x-own;level=9",
            "chunked",
            "gzip, AWS-Chunked",
            &"x".repeat(256),
        ] {
            assert!(parse_content_encoding(Some(bad)).is_err(), "{bad:?}");
        }
        for blank in [" ", ",,"] {
            assert_eq!(parse_content_encoding(Some(blank)).expect("none"), None);
        }
        let with_empty = parse_content_encoding(Some(",gzip,, br ,")).expect("a list");
        assert_eq!(with_empty.as_deref(), Some("gzip, br"));
        assert_eq!(parse_content_encoding(None).expect("none"), None);
    }

    #[test]
    fn store_240_the_coding_of_an_s3_request_is_not_stored() {
        for (sent, stored) in [
            ("aws-chunked", ""),
            ("aws-chunked,gzip", "gzip"),
            ("gzip, AWS-Chunked", "gzip"),
            ("gzip, br", "gzip, br"),
            ("", ""),
        ] {
            assert_eq!(without_transfer_coding(sent), stored);
        }
    }
}
