//! The keys of a project: one to sign with, and all whose signatures we accept.

use std::sync::Arc;

use arc_swap::ArcSwap;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde::Serialize;
use serde_json::Value;

use crate::verifier::{UnnamedKeys, Verifier};
use crate::{Claims, JsonWebKey, JwkError, TokenError};

/// Tokens whose verified claims are remembered. One signature check costs from 2 µs (HS256) to 150 µs (ES256).
const CACHED_TOKENS: u64 = 1_000;

/// Signs tokens, and verifies those of the project and of third parties that it trusts.
///
/// Shared by all workers. Verification keys can be replaced while requests run (a third party rotates its keys);
/// the cache of verified tokens is emptied then.
pub struct KeyRing {
    signing: SigningKey,
    shared_secret: SigningKey,
    own: Vec<JsonWebKey>,
    verifier: ArcSwap<Verifier>,
}

struct SigningKey {
    kid: Option<String>,
    algorithm: Algorithm,
    key: EncodingKey,
}

impl KeyRing {
    /// Builds the ring of a project.
    ///
    /// Tokens are signed with the first key of `signing_keys` that is meant to sign ([`JsonWebKey::may_sign`]), and with
    /// `jwt_secret` (HS256) when there is none. Tokens of every listed key and of the secret verify.
    ///
    /// # Errors
    /// A key that cannot be used is named; its material is not shown.
    pub fn new(jwt_secret: &[u8], signing_keys: &[JsonWebKey]) -> Result<Self, JwkError> {
        let secret = JsonWebKey::symmetric(jwt_secret);
        let signing = signing_keys.iter().find(|key| key.may_sign()).unwrap_or(&secret);
        let ring = Self {
            signing: SigningKey::new(signing)?,
            shared_secret: SigningKey::new(&secret)?,
            own: signing_keys.iter().cloned().chain([secret.clone()]).collect(),
            verifier: ArcSwap::from_pointee(Verifier::nothing()),
        };
        ring.trust(&[])?;
        Ok(ring)
    }

    /// Replaces the third parties' keys.
    ///
    /// # Errors
    /// One unusable key refuses the whole set, and the old set stays.
    pub fn trust(&self, third_party: &[JsonWebKey]) -> Result<(), JwkError> {
        let keys = self.own.iter().chain(third_party);
        let verifier = Verifier::of_keys(keys, UnnamedKeys::VerifyAll, CACHED_TOKENS)?;
        self.verifier.store(Arc::new(verifier));
        Ok(())
    }

    /// Checks the signature and decodes the claims. Time and audience are the caller's to check, on every use.
    ///
    /// # Errors
    /// See [`TokenError`]; source: REST contract §7, Auth contract §1.2.
    pub fn verify(&self, token: &str) -> Result<Arc<Claims>, TokenError> {
        self.verifier.load().verify(token)
    }

    /// Signs with the project's current signing key.
    ///
    /// # Errors
    /// [`TokenError::Signing`] when the claims cannot be serialised.
    pub fn sign(&self, claims: &impl Serialize) -> Result<String, TokenError> {
        self.signing.sign(claims)
    }

    /// Signs with the shared secret: tokens that only this project reads, such as signed URLs.
    ///
    /// # Errors
    /// [`TokenError::Signing`] when the claims cannot be serialised.
    pub fn sign_hs256(&self, claims: &impl Serialize) -> Result<String, TokenError> {
        self.shared_secret.sign(claims)
    }

    /// `{"keys": […]}` with the public halves of our own asymmetric keys. Source: Auth contract §2.2.
    pub fn public_jwks(&self) -> Value {
        let keys: Vec<Value> = self.own.iter().filter_map(JsonWebKey::public_json).collect();
        serde_json::json!({ "keys": keys })
    }

    /// Whether user tokens are signed with a key that others can verify: ID tokens need that.
    pub fn signs_asymmetrically(&self) -> bool {
        !matches!(
            self.signing.algorithm,
            Algorithm::HS256 | Algorithm::HS384 | Algorithm::HS512
        )
    }
}

impl SigningKey {
    fn new(key: &JsonWebKey) -> Result<Self, JwkError> {
        let algorithm = key.algorithms()?[0];
        Ok(Self {
            kid: key.kid.clone(),
            algorithm,
            key: key.encoding_key()?,
        })
    }

    fn sign(&self, claims: &impl Serialize) -> Result<String, TokenError> {
        let header = Header {
            kid: self.kid.clone(),
            ..Header::new(self.algorithm)
        };
        jsonwebtoken::encode(&header, claims, &self.key).map_err(|_| TokenError::Signing)
    }
}

/// A new random secret for HS256: 256 bits as base64url text.
pub fn generate_jwt_secret() -> String {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).expect("the operating system has a source of randomness");
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The legacy API key of a role: a JWT that any holder of the secret can make again, byte for byte.
///
/// The order of the members is part of the contract, because the well-known development keys are compared as
/// text by scripts. Source: gateway contract §6.
pub fn legacy_api_key(jwt_secret: &[u8], role: &str, issuer: &str, expires_at: i64) -> String {
    let claims = serde_json::json!({ "iss": issuer, "role": role, "exp": expires_at }).to_string();
    let message = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#),
        URL_SAFE_NO_PAD.encode(claims)
    );
    let signature = jsonwebtoken::crypto::sign(
        message.as_bytes(),
        &EncodingKey::from_secret(jwt_secret),
        Algorithm::HS256,
    )
    .expect("HMAC takes keys of any length");
    format!("{message}.{signature}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::development;
    use crate::verifier::parse_header;

    fn ring() -> KeyRing {
        KeyRing::new(development::JWT_SECRET.as_bytes(), &[development::signing_key()]).expect("usable keys")
    }

    #[test]
    fn gw_011_user_tokens_are_signed_with_the_asymmetric_key_and_verify() {
        let ring = ring();

        let token = ring
            .sign(&json!({"sub": "a", "role": "authenticated"}))
            .expect("signs");
        let claims = ring.verify(&token).expect("verifies");

        assert_eq!(claims.role(), Some("authenticated"));
        assert_eq!(
            parse_header(token.split('.').next().unwrap_or_default()).map(|found| found.0),
            Ok(Algorithm::ES256)
        );
    }

    #[test]
    fn gw_011_the_published_key_set_has_public_halves_only() {
        let jwks = ring().public_jwks();

        assert_eq!(jwks["keys"].as_array().map(Vec::len), Some(1));
        assert_eq!(jwks["keys"][0]["alg"], "ES256");
        assert_eq!(jwks["keys"][0].get("d"), None);
    }

    #[test]
    fn gw_010_a_token_of_another_secret_is_refused() {
        let foreign = KeyRing::new(b"another-secret-with-at-least-32-characters", &[]).expect("usable");

        let token = foreign.sign(&json!({"role": "service_role"})).expect("signs");

        assert_eq!(ring().verify(&token).map(|_| ()), Err(TokenError::BadSignature));
    }

    #[test]
    fn broken_tokens_say_what_is_broken() {
        let none = format!("{}.e30.", URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#));
        let unknown_kid = format!(
            "{}.e30.AAAA",
            URL_SAFE_NO_PAD.encode(r#"{"alg":"ES256","kid":"x"}"#)
        );
        let cases = [
            ("", TokenError::Empty),
            ("a.b", TokenError::Parts(2)),
            ("a.b.c.d", TokenError::Parts(4)),
            ("a.b.c", TokenError::Undecodable),
            (none.as_str(), TokenError::Unsigned),
            (unknown_kid.as_str(), TokenError::NoSuitableKey),
        ];
        for (token, expected) in cases {
            assert_eq!(ring().verify(token).map(|_| ()), Err(expected), "{token}");
        }
    }

    #[test]
    fn gw_002_the_well_known_keys_come_out_byte_for_byte() {
        let anon = development::anon_key();
        let service_role = development::service_role_key();

        assert!(anon.contains(".CRXP1A") && anon.ends_with("YTn_I0"), "{anon}");
        assert!(
            service_role.contains(".EGIM96") && service_role.ends_with("pN81IU"),
            "{service_role}"
        );
    }
}
