//! Secrets of sessions, and their digests.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// The SHA-256 of a secret, which is all that the database stores of it.
pub(super) type Digest = [u8; 32];

/// Returns 256 random bits as text.
pub(crate) fn random_secret() -> String {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Hashes a secret. A quick hash suffices, because the secrets are random and cannot be guessed.
pub(super) fn digest(secret: &str) -> Digest {
    Sha256::digest(secret.as_bytes()).into()
}
