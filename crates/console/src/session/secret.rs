//! Secrets of sessions, and their digests.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// SHA-256 of a secret.
pub(super) type Digest = [u8; 32];

/// 256 random bits as text.
pub(super) fn random_secret() -> String {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The digest of a secret. The secrets are random, so that a slow hash would protect nothing more.
pub(super) fn digest(secret: &str) -> Digest {
    Sha256::digest(secret.as_bytes()).into()
}
