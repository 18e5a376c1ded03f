//! Keys of Standard Webhooks, which sign the calls of HTTP hooks.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Base 64 for keys, which projects write with and without padding.
const KEY_BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The bytes of a key, written after `whsec_`.
pub(crate) fn decode_key(text: &str) -> Option<Vec<u8>> {
    KEY_BASE64.decode(text).ok().filter(|key| !key.is_empty())
}
