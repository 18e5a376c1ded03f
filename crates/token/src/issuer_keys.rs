//! The public keys of another issuer, as its key set lists them.

use std::sync::Arc;

use serde_json::Value;

use crate::verifier::{UnnamedKeys, Verifier};
use crate::{Claims, JsonWebKey, TokenError};

/// More keys than any issuer has; a longer list is cut.
const MOST_KEYS: usize = 64;

/// Verifies tokens of one issuer.
pub struct IssuerKeys(Verifier);

impl IssuerKeys {
    /// Reads `{"keys": […]}`. Keys that we cannot use are left out, and so are symmetric ones: a published secret proves
    /// nothing.
    pub fn from_jwks(jwks: &Value) -> Self {
        let listed = jwks["keys"].as_array().into_iter().flatten();
        let keys: Vec<JsonWebKey> = listed
            .take(MOST_KEYS)
            .filter_map(|key| serde_json::from_value::<JsonWebKey>(key.clone()).ok())
            .filter(|key| key.kty != "oct" && key.key_use.as_deref() != Some("enc"))
            .filter(|key| Verifier::new(std::slice::from_ref(key), 0).is_ok())
            .collect();
        Self(
            Verifier::of_keys(keys.iter(), UnnamedKeys::VerifyAll, 0).unwrap_or_else(|_| Verifier::nothing()),
        )
    }

    /// Checks the signature and decodes the claims. Issuer, audience and time are the caller's to check.
    ///
    /// # Errors
    /// See [`TokenError`]; [`TokenError::NoSuitableKey`] may mean that the issuer has a new key.
    pub fn verify(&self, token: &str) -> Result<Arc<Claims>, TokenError> {
        self.0.verify(token)
    }
}
