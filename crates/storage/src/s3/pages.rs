//! Continuation tokens and the encoding of keys, which paged lists share.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::error::S3Error;

/// All characters but those that `encoding-type=url` leaves as they are.
const KEY_ENCODING: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'/');

/// Percent-encodes a key.
pub(super) fn url_encode(text: &str) -> String {
    utf8_percent_encode(text, KEY_ENCODING).to_string()
}

/// Makes a continuation token: base64 of `l:` and the last name of a page.
pub(super) fn encode_token(last: &str) -> String {
    STANDARD.encode(format!("l:{last}"))
}

/// Reads a continuation token.
///
/// # Errors
/// `InvalidArgument`.
pub(super) fn decode_token(token: &str) -> Result<String, S3Error> {
    STANDARD
        .decode(token)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .and_then(|text| text.strip_prefix("l:").map(str::to_owned))
        .ok_or(S3Error::InvalidArgument("continuation-token"))
}
