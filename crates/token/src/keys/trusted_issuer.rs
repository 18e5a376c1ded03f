//! Verifies the access tokens of the project's third-party issuer (`[auth.third_party]`).

use std::sync::Arc;

use serde_json::Value;

use super::IssuerKeys;
use crate::{Claims, TokenError};

/// Most tokens of the issuer whose verified claims are cached.
const CACHED_TOKENS: u64 = 1_000;

/// An issuer whose tokens are accepted beside the project's own, with the keys that it publishes.
pub struct TrustedIssuer {
    /// The `iss` of its tokens, without a slash at the end.
    issuer: String,
    keys: IssuerKeys,
}

impl TrustedIssuer {
    /// Reads the issuer's key set, `{"keys": […]}`. `None` when no key in it can verify a token.
    pub fn new(issuer: &str, jwks: &Value) -> Option<Self> {
        let keys = IssuerKeys::with_cache(jwks, CACHED_TOKENS);
        keys.has_keys().then(|| Self {
            issuer: issuer.trim_end_matches('/').to_owned(),
            keys,
        })
    }

    /// Verifies signature and issuer and decodes the claims. The caller must check time and audience.
    ///
    /// The issuer has to be compared because keys may be shared: all projects of Firebase sign with the same ones, so a
    /// signature alone does not say whose user the caller is.
    ///
    /// # Errors
    /// See [`TokenError`]; [`TokenError::NoSuitableKey`] may mean that the issuer has a new key.
    pub(crate) fn verify(&self, token: &str) -> Result<Arc<Claims>, TokenError> {
        let claims = self.keys.verify(token)?;
        let issuer = claims.get("iss").and_then(Value::as_str).unwrap_or_default();
        // Auth0 ends its issuer with a slash, while the address from which it is configured has none.
        if issuer.trim_end_matches('/') == self.issuer {
            Ok(claims)
        } else {
            Err(TokenError::BadSignature)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{KeyAlgorithm, KeyRing, generate_signing_key};

    const ISSUER: &str = "https://securetoken.google.com/lookbook";

    /// A ring that signs as an issuer does.
    fn make_signer(algorithm: KeyAlgorithm) -> KeyRing {
        let key = generate_signing_key(algorithm);
        KeyRing::new(b"nobody-signs-with-this-secret-here", &[key]).expect("a usable key")
    }

    #[test]
    fn gw_011_tokens_of_a_third_party_verify_only_with_its_own_issuer() {
        for algorithm in [KeyAlgorithm::Rs256, KeyAlgorithm::Es256] {
            let signer = make_signer(algorithm);
            let trusted = TrustedIssuer::new(ISSUER, &signer.public_jwks()).expect("a key");
            let sign = |issuer: &str| {
                let claims = json!({ "iss": issuer, "sub": "user_1", "role": "authenticated" });
                signer.sign(&claims).expect("signs")
            };

            let claims = trusted.verify(&sign(ISSUER)).expect("verifies");
            let with_slash = trusted.verify(&sign(&format!("{ISSUER}/")));
            let of_another_project = trusted.verify(&sign("https://securetoken.google.com/another"));

            assert_eq!(claims.subject(), Some("user_1"));
            assert!(with_slash.is_ok());
            assert_eq!(of_another_project.map(drop), Err(TokenError::BadSignature));
        }
    }

    #[test]
    fn gw_011_key_sets_without_a_public_key_are_refused() {
        let secret =
            json!({"keys": [{"kty": "oct", "k": "bm9ib2R5LXNpZ25zLXdpdGgtdGhpcy1zZWNyZXQ", "alg": "HS256"}]});

        for jwks in [json!({"keys": []}), json!({}), secret] {
            assert!(TrustedIssuer::new(ISSUER, &jwks).is_none(), "{jwks}");
        }
    }
}
