//! Refresh tokens that are signed counters: they need no rows of their own, only the session that they name.
//!
//! Layout: version 0, session id (16 bytes), counter (LEB128), the first 16 bytes of HMAC-SHA-256 over all of
//! it, the first 4 bytes of SHA-256 over all of it. The checksum lets the server reject random text without a
//! query. Source: Auth contract §4.3, format v2.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use uuid::Uuid;

const VERSION: u8 = 0;
const SIGNATURE_BYTES: usize = 16;
const CHECKSUM_BYTES: usize = 4;

/// A token with a correct checksum. Only [`Self::is_signed_by`] with the session's key proves that the server
/// issued it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CounterToken {
    pub(crate) session_id: Uuid,
    pub(crate) counter: i64,
    signed: Vec<u8>,
    signature: [u8; SIGNATURE_BYTES],
}

impl CounterToken {
    /// Parses a token; `None` when it is no counter token.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (rest, checksum) = bytes.split_last_chunk::<CHECKSUM_BYTES>()?;
        if !bool::from(Sha256::digest(rest)[..CHECKSUM_BYTES].ct_eq(checksum)) {
            return None;
        }
        let (signed, signature) = rest.split_last_chunk::<SIGNATURE_BYTES>()?;
        let (version, rest) = signed.split_first()?;
        let (session_id, counter) = rest.split_first_chunk::<16>()?;
        (*version == VERSION).then_some(())?;
        Some(Self {
            session_id: Uuid::from_bytes(*session_id),
            counter: read_counter(counter)?,
            signed: signed.to_vec(),
            signature: *signature,
        })
    }

    /// Whether the session's key has signed it.
    pub(crate) fn is_signed_by(&self, key: &[u8]) -> bool {
        sign(key, &self.signed).ct_eq(&self.signature).into()
    }
}

/// Builds a session's token for a counter value.
pub(crate) fn encode_token(session_id: Uuid, counter: i64, key: &[u8]) -> String {
    let mut bytes = vec![VERSION];
    bytes.extend_from_slice(session_id.as_bytes());
    let mut rest = u64::try_from(counter).unwrap_or(0);
    loop {
        let low = u8::try_from(rest & 0x7f).unwrap_or(0);
        rest >>= 7;
        bytes.push(if rest == 0 { low } else { low | 0x80 });
        if rest == 0 {
            break;
        }
    }
    let signature = sign(key, &bytes);
    bytes.extend_from_slice(&signature);
    let checksum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&checksum[..CHECKSUM_BYTES]);
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Generates the key of a new session, as the database stores it: base64url.
pub(crate) fn generate_key() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

/// Decodes a stored key. `None` for one that is no base64url or is empty, such as an encrypted key that
/// another server wrote.
///
/// Such a session has no usable key: with an empty one, anybody who knows the session's id could sign its
/// refresh tokens.
pub(crate) fn decode_key(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').replace('+', "-").replace('/', "_");
    URL_SAFE_NO_PAD.decode(text).ok().filter(|key| !key.is_empty())
}

fn sign(key: &[u8], message: &[u8]) -> [u8; SIGNATURE_BYTES] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(message);
    let digest = mac.finalize().into_bytes();
    let mut signature = [0; SIGNATURE_BYTES];
    signature.copy_from_slice(&digest[..SIGNATURE_BYTES]);
    signature
}

fn read_counter(bytes: &[u8]) -> Option<i64> {
    let (last, _) = bytes.split_last()?;
    let is_whole = last & 0x80 == 0 && bytes[..bytes.len() - 1].iter().all(|byte| byte & 0x80 != 0);
    if !is_whole || bytes.len() > 9 {
        return None;
    }
    let counter = bytes
        .iter()
        .rev()
        .fold(0_u64, |number, byte| (number << 7) | u64::from(byte & 0x7f));
    i64::try_from(counter).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_012_a_stored_key_that_cannot_be_read_is_no_key() {
        for stored in ["", "=", "not base64url!"] {
            assert_eq!(decode_key(stored), None, "{stored}");
        }
    }

    #[test]
    fn counter_tokens_are_read_back_and_altered_ones_are_rejected() {
        let (session, key) = (Uuid::new_v4(), decode_key(&generate_key()).expect("a key"));
        for counter in [0, 1, 127, 128, 300, i64::from(u32::MAX), i64::MAX] {
            let text = encode_token(session, counter, &key);
            let token = CounterToken::parse(&text).expect("one of ours");

            assert_eq!((token.session_id, token.counter), (session, counter));
            assert!(token.is_signed_by(&key) && !token.is_signed_by(b"another"));
            let mut other = text.clone().into_bytes();
            other[10] ^= 1;
            assert_eq!(CounterToken::parse(&String::from_utf8_lossy(&other)), None);
        }
        for text in ["", "abcdefghijkl", "AAAA", "not base 64!"] {
            assert_eq!(CounterToken::parse(text), None, "{text}");
        }
    }
}
