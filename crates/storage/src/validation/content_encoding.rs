//! The `Content-Encoding` that an upload stores with an object and downloads send. The service itself neither encodes nor decodes.

use crate::error::StorageError;

/// Longest value in bytes.
const MAX_BYTES: usize = 255;
/// The coding of an S3 request's body, which is taken off before the bytes are stored.
const TRANSFER_CODING: &str = "aws-chunked";

/// Checks a value that becomes a header of every download: a form field may hold what no header can.
///
/// # Errors
/// `InvalidParameter`.
pub(crate) fn check_content_encoding(value: &str) -> Result<(), StorageError> {
    let is_header = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if is_header && value.len() <= MAX_BYTES {
        Ok(())
    } else {
        Err(StorageError::InvalidParameter("contentEncoding"))
    }
}

/// A checked value; the empty one means none.
///
/// # Errors
/// `InvalidParameter`.
pub(crate) fn parse_content_encoding(value: Option<&str>) -> Result<Option<String>, StorageError> {
    let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    check_content_encoding(value)?;
    Ok(Some(value.to_owned()))
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
    fn store_242_encodings_are_at_most_255_printable_ascii_characters() {
        let longest = "x".repeat(255);
        for good in ["gzip", "br", "gzip, br", "x-own;level=9", &longest] {
            assert_eq!(
                parse_content_encoding(Some(good)).expect(good).as_deref(),
                Some(good)
            );
        }
        for bad in ["gzip\r\nset-cookie: a=b", "gz\0ip", "gzïp", &"x".repeat(256)] {
            assert!(parse_content_encoding(Some(bad)).is_err(), "{bad:?}");
        }
        assert_eq!(parse_content_encoding(Some(" ")).expect("none"), None);
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
