//! The public keys of another issuer, read from its JWKS.

use std::sync::Arc;

use serde_json::Value;

use super::verifier::{UnnamedKeys, Verifier};
use crate::{Claims, JsonWebKey, TokenError};

/// Most keys that are read; the rest of a longer list is ignored, so that a hostile issuer cannot use up memory and
/// time.
const MAX_KEYS: usize = 64;

/// Verifies tokens of one issuer.
pub struct IssuerKeys {
    verifier: Verifier,
    has_keys: bool,
}

impl IssuerKeys {
    /// Reads `{"keys": […]}`. Unusable keys are left out, and so are symmetric ones: a secret that is published in a
    /// key set proves nothing about the signer.
    pub fn from_jwks(jwks: &Value) -> Self {
        Self::with_cache(jwks, 0)
    }

    /// As [`IssuerKeys::from_jwks`], and caches the claims of up to `cached_tokens` verified tokens.
    pub(super) fn with_cache(jwks: &Value, cached_tokens: u64) -> Self {
        let entries = jwks["keys"].as_array().into_iter().flatten();
        let keys: Vec<JsonWebKey> = entries
            .take(MAX_KEYS)
            .filter_map(|key| serde_json::from_value::<JsonWebKey>(key.clone()).ok())
            .filter(|key| key.kty != "oct" && key.key_use.as_deref() != Some("enc"))
            // One malformed key must not make the issuer's other keys unusable.
            .filter(|key| Verifier::new(std::slice::from_ref(key), 0).is_ok())
            .collect();
        Self {
            verifier: Verifier::from_keys(keys.iter(), UnnamedKeys::VerifyAll, cached_tokens)
                .unwrap_or_else(|_| Verifier::refusing_all()),
            has_keys: !keys.is_empty(),
        }
    }

    /// Whether the set has a usable key.
    pub(super) fn has_keys(&self) -> bool {
        self.has_keys
    }

    /// Verifies the signature and decodes the claims. The caller must check issuer, audience and time.
    ///
    /// # Errors
    /// See [`TokenError`]; [`TokenError::NoSuitableKey`] may mean that the issuer has a new key.
    pub fn verify(&self, token: &str) -> Result<Arc<Claims>, TokenError> {
        self.verifier.verify(token)
    }
}
