//! The keys of a project: one that signs, and all whose signatures are accepted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwapOption;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use ring::error::Unspecified;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use serde::Serialize;
use serde_json::Value;

use super::trusted_issuer::TrustedIssuer;
use super::verifier::{UnnamedKeys, Verifier};
use crate::{Claims, JsonWebKey, JwkError, TokenError};

/// Most tokens whose verified claims are cached. A verification costs from 2 µs (HS256) to 150 µs (ES256), and clients
/// repeat a token for an hour.
const CACHED_TOKENS: u64 = 1_000;

/// Signs tokens, and verifies those of the project and of the third party that it trusts.
///
/// Shared by all workers. The third party's keys can be replaced while requests run; each replacement starts with an empty
/// cache, so that a token of a removed key does not stay valid.
pub struct KeyRing {
    signing: SigningKey,
    shared_secret: SigningKey,
    /// The project's own keys, the shared secret included.
    project_keys: Vec<JsonWebKey>,
    verifier: Verifier,
    /// Verifies tokens that are signed with the shared secret by HS384 or HS512.
    secret_with_any_hash: Verifier,
    /// Derives keys of other purposes from the shared secret.
    derivation: hmac::Key,
    third_party: ArcSwapOption<TrustedIssuer>,
    /// Whether a token named a key that neither the project nor the third party has, since this was read last.
    met_unknown_key: AtomicBool,
}

struct SigningKey {
    kid: Option<String>,
    algorithm: Algorithm,
    key: PrivateKey,
}

enum PrivateKey {
    /// RS256. The crate `rsa`, with which jsonwebtoken would sign, takes a time that depends on the key
    /// (RUSTSEC-2023-0071); ring does not.
    Rsa(Box<RsaKeyPair>),
    /// ES256. The crate `p256`, with which jsonwebtoken would sign, reads the key anew for each token, and so multiplies
    /// points three times where once is enough.
    P256(Box<EcdsaKeyPair>),
    /// Key of any other algorithm.
    Other(EncodingKey),
}

impl KeyRing {
    /// Creates a project's ring.
    ///
    /// Tokens are signed with the first key of `signing_keys` that may sign ([`JsonWebKey::may_sign`]), and with
    /// `jwt_secret` (HS256) when there is none. Tokens of every listed key and of the secret verify.
    ///
    /// # Errors
    /// When a key cannot be used; the message names the key but does not contain it.
    pub fn new(jwt_secret: &[u8], signing_keys: &[JsonWebKey]) -> Result<Self, JwkError> {
        let secret = JsonWebKey::symmetric(jwt_secret);
        // Without `alg` a symmetric key verifies HS256, HS384 and HS512.
        let any_hash = JsonWebKey {
            alg: None,
            ..secret.clone()
        };
        let signing = signing_keys.iter().find(|key| key.may_sign()).unwrap_or(&secret);
        let project_keys: Vec<JsonWebKey> = signing_keys.iter().cloned().chain([secret.clone()]).collect();
        Ok(Self {
            signing: SigningKey::new(signing)?,
            shared_secret: SigningKey::new(&secret)?,
            derivation: hmac::Key::new(hmac::HMAC_SHA256, jwt_secret),
            secret_with_any_hash: Verifier::from_keys([&any_hash].into_iter(), UnnamedKeys::VerifyAll, 0)?,
            verifier: Verifier::from_keys(project_keys.iter(), UnnamedKeys::VerifyAll, CACHED_TOKENS)?,
            project_keys,
            third_party: ArcSwapOption::empty(),
            met_unknown_key: AtomicBool::new(false),
        })
    }

    /// Trusts the tokens of `issuer` from now on, in the place of the issuer that was trusted before.
    pub fn trust_issuer(&self, issuer: TrustedIssuer) {
        // Requests that are being verified finish with the old keys; their cache is dropped with them.
        self.third_party.store(Some(Arc::new(issuer)));
    }

    /// Whether, since the last call, a token named a key that nobody here has: the third party may have a new one.
    pub fn take_unknown_key(&self) -> bool {
        self.met_unknown_key.swap(false, Ordering::Relaxed)
    }

    /// Verifies the signature of one of the project's own tokens and decodes the claims. The caller must check time and
    /// audience at every use, because claims may come from the cache.
    ///
    /// An ID token is refused: it tells a client of the OAuth server who has signed in, and gives no access.
    ///
    /// # Errors
    /// See [`TokenError`]; source: REST contract §7, Auth contract §1.2.
    pub fn verify(&self, token: &str) -> Result<Arc<Claims>, TokenError> {
        refuse_id_token(self.verifier.verify(token)?)
    }

    /// As [`KeyRing::verify`], and accepts the third party's tokens. For the bearer of a request on the project's data; not for
    /// Auth, whose users are its own, nor for signed URLs, which only this project issues.
    ///
    /// # Errors
    /// As [`KeyRing::verify`].
    pub fn verify_bearer(&self, token: &str) -> Result<Arc<Claims>, TokenError> {
        match self.verify(token) {
            // Only these errors can mean that somebody else has signed the token.
            Err(own) if own.may_be_of_another_key() => {
                let third_party = self.third_party.load();
                let verified = third_party.as_ref().map(|issuer| issuer.verify(token));
                match verified {
                    Some(Err(error)) if !error.is_of_unknown_key() => Err(error),
                    Some(Ok(claims)) => Ok(claims),
                    _ => {
                        self.met_unknown_key.store(true, Ordering::Relaxed);
                        Err(own)
                    }
                }
            }
            verified => verified,
        }
    }

    /// As [`KeyRing::verify_bearer`], but accepts HS384 and HS512 with the shared secret, too.
    ///
    /// Compat: Realtime accepts them, while REST, Auth and Storage accept only HS256.
    ///
    /// # Errors
    /// As [`KeyRing::verify`].
    pub fn verify_any_hash(&self, token: &str) -> Result<Arc<Claims>, TokenError> {
        match self.verify_bearer(token) {
            // Tried second: tokens of all other keys are then found in the cache of the first verifier, and only tokens that
            // would be refused cost a second verification.
            Err(error) if error.is_of_unknown_key() => {
                refuse_id_token(self.secret_with_any_hash.verify(token)?)
            }
            verified => verified,
        }
    }

    /// A key for another purpose, derived from the shared secret: the same on every node and after every start, and of no
    /// use for signing tokens.
    pub fn derive_key(&self, purpose: &str) -> [u8; 32] {
        let mut key = [0; 32];
        key.copy_from_slice(hmac::sign(&self.derivation, purpose.as_bytes()).as_ref());
        key
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

    /// Returns `{"keys": […]}` with the public halves of our own asymmetric keys. Source: Auth contract §2.2.
    pub fn public_jwks(&self) -> Value {
        let keys: Vec<Value> = self
            .project_keys
            .iter()
            .filter_map(JsonWebKey::public_json)
            .collect();
        serde_json::json!({ "keys": keys })
    }

    /// Whether user tokens are signed with a key pair, so that others can verify them. ID tokens require it.
    pub fn signs_asymmetrically(&self) -> bool {
        !matches!(
            self.signing.algorithm,
            Algorithm::HS256 | Algorithm::HS384 | Algorithm::HS512
        )
    }
}

/// Refuses an ID token of the project's own OAuth server; its audience is the client alone.
///
/// # Errors
/// [`TokenError::WrongAudience`].
fn refuse_id_token(claims: Arc<Claims>) -> Result<Arc<Claims>, TokenError> {
    match claims.is_id_token() {
        true => Err(TokenError::WrongAudience),
        false => Ok(claims),
    }
}

impl SigningKey {
    fn new(key: &JsonWebKey) -> Result<Self, JwkError> {
        // Never empty: a key without any algorithm is an error.
        let algorithm = key.algorithms()?[0];
        Ok(Self {
            kid: key.kid.clone(),
            algorithm,
            key: match algorithm {
                Algorithm::RS256 => PrivateKey::Rsa(Box::new(key.rsa_key_pair()?)),
                Algorithm::ES256 => PrivateKey::P256(Box::new(key.p256_key_pair()?)),
                _ => PrivateKey::Other(key.encoding_key()?),
            },
        })
    }

    fn sign(&self, claims: &impl Serialize) -> Result<String, TokenError> {
        let header = Header {
            kid: self.kid.clone(),
            ..Header::new(self.algorithm)
        };
        match &self.key {
            PrivateKey::Other(key) => {
                jsonwebtoken::encode(&header, claims, key).map_err(|_| TokenError::Signing)
            }
            PrivateKey::Rsa(key) => encode_token(&header, claims, |message| sign_rs256(key, message)),
            PrivateKey::P256(key) => encode_token(&header, claims, |message| {
                // The fixed form is that of tokens: both numbers in 32 bytes each (RFC 7518 §3.4).
                let signature = key.sign(&SystemRandom::new(), message)?;
                Ok(signature.as_ref().to_vec())
            }),
        }
    }
}

/// Writes a token (RFC 7515 §3.1) that `sign` signs.
fn encode_token(
    header: &Header,
    claims: &impl Serialize,
    sign: impl FnOnce(&[u8]) -> Result<Vec<u8>, Unspecified>,
) -> Result<String, TokenError> {
    let part = |json: serde_json::Result<Vec<u8>>| {
        json.map(|json| URL_SAFE_NO_PAD.encode(json))
            .map_err(|_| TokenError::Signing)
    };
    let message = format!(
        "{}.{}",
        part(serde_json::to_vec(header))?,
        part(serde_json::to_vec(claims))?
    );
    let signature = sign(message.as_bytes()).map_err(|_| TokenError::Signing)?;
    Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// Signs by RS256: PKCS #1 v1.5 padding and SHA-256 (RFC 7518 §3.3).
fn sign_rs256(key: &RsaKeyPair, message: &[u8]) -> Result<Vec<u8>, Unspecified> {
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature)?;
    Ok(signature)
}

/// A new random secret for HS256: 256 bits as base64url text.
pub fn generate_jwt_secret() -> String {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).expect("the operating system has a source of randomness");
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The legacy API key of a role: a JWT that is the same, byte for byte, whenever it is made from the same secret. The
/// order of its members is part of the contract, because scripts compare the well-known development keys as text.
/// Source: gateway contract §6.
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
    use crate::keys::verifier::parse_header;

    fn build_ring() -> KeyRing {
        KeyRing::new(development::JWT_SECRET.as_bytes(), &[development::signing_key()]).expect("usable keys")
    }

    #[test]
    fn gw_011_user_tokens_are_signed_with_the_asymmetric_key_and_verify() {
        let ring = build_ring();

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
    fn id_tokens_are_refused_by_every_verifier() {
        let ring = build_ring();
        let client = "7c1e0a1e-3f6b-4a53-9f5e-2d7b3f1f0a11";
        let own = json!({"sub": "a", "aud": client, "client_id": client, "token_use": "id"});
        let of_older_version = json!({"sub": "a", "aud": client, "client_id": client});
        let access = json!({"sub": "a", "aud": "authenticated", "client_id": client, "session_id": "s"});

        for claims in [own, of_older_version] {
            for token in [ring.sign(&claims), ring.sign_hs256(&claims)] {
                let token = token.expect("signs");
                for verified in [
                    ring.verify(&token),
                    ring.verify_bearer(&token),
                    ring.verify_any_hash(&token),
                ] {
                    assert_eq!(verified.err(), Some(TokenError::WrongAudience), "{claims}");
                }
            }
        }
        assert!(ring.verify(&ring.sign(&access).expect("signs")).is_ok());
    }

    #[test]
    fn derived_keys_depend_on_secret_and_purpose() {
        let ring = build_ring();
        let other = KeyRing::new(b"another secret of at least 32 characters", &[]).expect("a usable key");

        assert_eq!(ring.derive_key("a"), build_ring().derive_key("a"));
        assert_ne!(ring.derive_key("a"), ring.derive_key("b"));
        assert_ne!(ring.derive_key("a"), other.derive_key("a"));
    }

    #[test]
    fn gw_011_the_published_key_set_has_public_halves_only() {
        let jwks = build_ring().public_jwks();

        assert_eq!(jwks["keys"].as_array().map(Vec::len), Some(1));
        assert_eq!(jwks["keys"][0]["alg"], "ES256");
        assert_eq!(jwks["keys"][0].get("d"), None);
    }

    #[test]
    fn gw_011_rs256_signatures_are_those_that_the_public_key_verifies() {
        let rsa = crate::generate_signing_key(crate::KeyAlgorithm::Rs256);
        let ring = KeyRing::new(development::JWT_SECRET.as_bytes(), &[rsa]).expect("a usable key");

        let token = ring.sign(&json!({"role": "authenticated"})).expect("signs");

        let header = token.split('.').next().unwrap_or_default();
        assert_eq!(parse_header(header).map(|found| found.0), Ok(Algorithm::RS256));
        let claims = ring.verify(&token).expect("verifies");
        assert_eq!(claims.role(), Some("authenticated"));
        let changed = token.replacen('.', ".e", 1);
        assert!(ring.verify(&changed).is_err());
    }

    #[test]
    fn gw_010_a_token_of_another_secret_is_refused() {
        let foreign = KeyRing::new(b"another-secret-with-at-least-32-characters", &[]).expect("usable");

        let token = foreign.sign(&json!({"role": "service_role"})).expect("signs");

        assert_eq!(
            build_ring().verify(&token).map(|_| ()),
            Err(TokenError::BadSignature)
        );
    }

    #[test]
    fn realtime_055_hs384_and_hs512_verify_only_through_verify_any_hash() {
        let key = EncodingKey::from_secret(development::JWT_SECRET.as_bytes());
        let token = jsonwebtoken::encode(&Header::new(Algorithm::HS512), &json!({"role": "anon"}), &key)
            .expect("signs");

        assert_eq!(
            build_ring().verify(&token).map(|_| ()),
            Err(TokenError::NoKeyOfAlgorithm("HS512".to_owned()))
        );
        assert_eq!(
            build_ring()
                .verify_any_hash(&token)
                .map(|claims| claims.role().is_some()),
            Ok(true)
        );
    }

    #[test]
    fn gw_011_third_party_tokens_are_bearers_and_no_tokens_of_the_project() {
        let ring = build_ring();
        let make_signer = || {
            let key = crate::generate_signing_key(crate::KeyAlgorithm::Rs256);
            KeyRing::new(b"nobody-signs-with-this-secret-here", &[key]).expect("a usable key")
        };
        let (signer, successor) = (make_signer(), make_signer());
        let sign = |signer: &KeyRing| {
            let claims = json!({ "iss": "https://id.example", "role": "authenticated" });
            signer.sign(&claims).expect("signs")
        };
        let is_bearer = |token: &str| ring.verify_bearer(token).is_ok();
        let trust = |signer: &KeyRing| {
            let issuer = TrustedIssuer::new("https://id.example", &signer.public_jwks());
            ring.trust_issuer(issuer.expect("a key"));
        };

        assert!(!is_bearer(&sign(&signer)) && ring.take_unknown_key());
        trust(&signer);
        assert!(is_bearer(&sign(&signer)) && !ring.take_unknown_key());
        assert!(ring.verify(&sign(&signer)).is_err());
        assert!(ring.verify_any_hash(&sign(&signer)).is_ok());
        // A key of the issuer that is not known yet is noticed, and the keys that it replaces are forgotten.
        assert!(!is_bearer(&sign(&successor)) && ring.take_unknown_key());
        trust(&successor);
        assert!(is_bearer(&sign(&successor)) && !is_bearer(&sign(&signer)));
        // The project's own tokens are not affected.
        assert!(is_bearer(&ring.sign(&json!({"role": "anon"})).expect("signs")));
    }

    #[test]
    fn malformed_tokens_are_refused_with_a_specific_error() {
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
            assert_eq!(build_ring().verify(token).map(|_| ()), Err(expected), "{token}");
        }
    }

    #[test]
    fn gw_002_legacy_keys_equal_the_well_known_ones_byte_for_byte() {
        let anon = development::anon_key();
        let service_role = development::service_role_key();

        assert!(anon.contains(".CRXP1A") && anon.ends_with("YTn_I0"), "{anon}");
        assert!(
            service_role.contains(".EGIM96") && service_role.ends_with("pN81IU"),
            "{service_role}"
        );
    }
}
