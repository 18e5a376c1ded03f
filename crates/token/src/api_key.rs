//! Opaque API keys: `sb_publishable_…` and `sb_secret_…`.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The kind of an opaque key, which decides the role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiKeyKind {
    /// `sb_publishable_…`: role `anon`.
    Publishable,
    /// `sb_secret_…`: role `service_role`.
    Secret,
}

impl ApiKeyKind {
    /// The role of a request that carries nothing but this key.
    pub fn role(self) -> &'static str {
        match self {
            Self::Publishable => "anon",
            Self::Secret => "service_role",
        }
    }
}

/// The project's opaque keys. Legacy keys are JWTs and need no list: [`crate::KeyRing`] verifies them.
pub struct ApiKeys {
    publishable: Vec<SecretString>,
    secret: Vec<SecretString>,
}

impl ApiKeys {
    /// Creates the project's keys. Several keys of a kind may be valid at the same time, so that they can be rotated.
    pub fn new(publishable: Vec<SecretString>, secret: Vec<SecretString>) -> Self {
        Self { publishable, secret }
    }

    /// The kind of a key, or `None` for an unknown one. Every known key is compared in constant time, so that
    /// the response time does not reveal how much of a guess was right.
    pub fn kind(&self, key: &str) -> Option<ApiKeyKind> {
        let is_one_of = |keys: &[SecretString]| {
            // `fold` and not `any`, which would stop at the first match.
            keys.iter().fold(false, |found, known| {
                found | bool::from(known.expose_secret().as_bytes().ct_eq(key.as_bytes()))
            })
        };
        if is_one_of(&self.secret) {
            Some(ApiKeyKind::Secret)
        } else if is_one_of(&self.publishable) {
            Some(ApiKeyKind::Publishable)
        } else {
            None
        }
    }
}

/// Generates a publishable key.
pub fn generate_publishable_key() -> String {
    generate_key("sb_publishable_")
}

/// Generates a secret key.
pub fn generate_secret_key() -> String {
    generate_key("sb_secret_")
}

/// Generates a key of 22 random characters (128 bits) between the prefix and 8 characters of checksum, the
/// shape by which secret scanners recognise leaked keys.
fn generate_key(prefix: &str) -> String {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).expect("the operating system has a source of randomness");
    let body = format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes));
    let checksum = URL_SAFE_NO_PAD.encode(Sha256::digest(body.as_bytes()));
    format!("{body}_{}", &checksum[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_002_generated_keys_have_the_shape_and_are_recognised() {
        let (publishable, secret) = (generate_publishable_key(), generate_secret_key());
        let keys = ApiKeys::new(vec![publishable.clone().into()], vec![secret.clone().into()]);

        assert_eq!((publishable.len(), secret.len()), (15 + 22 + 9, 10 + 22 + 9));
        assert_eq!(keys.kind(&publishable), Some(ApiKeyKind::Publishable));
        assert_eq!(keys.kind(&secret), Some(ApiKeyKind::Secret));
        assert_eq!(keys.kind("sb_secret_guess"), None);
        assert_eq!(keys.kind(""), None);
    }
}
