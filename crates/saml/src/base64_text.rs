//! Base64 in XML documents and forms, which may be broken into lines.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Decodes standard Base64 between whose characters white space may stand; `None` for anything else.
pub(crate) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let compact: String = text
        .chars()
        .filter(|c| !matches!(c, ' ' | '\t' | '\n' | '\r'))
        .collect();
    STANDARD.decode(compact).ok()
}
