//! JSON Web Keys: the entries of a signing key file or of a third party's key set.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use p256::elliptic_curve::sec1::ToEncodedPoint;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RsaKeyPair};
use rsa::pkcs1::EncodeRsaPrivateKey;
use serde::{Deserialize, Serialize};

/// One key in the form of RFC 7517. Members that are not used here are dropped.
#[derive(Clone, Default, Deserialize, Serialize)]
pub struct JsonWebKey {
    /// `EC`, `RSA`, `OKP` or `oct`.
    pub kty: String,
    /// Names the key in the header of tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kid: Option<String>,
    /// The algorithm the key is for; derived from the type when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alg: Option<String>,
    /// `sig` or `enc`; absent means any use.
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    pub key_use: Option<String>,
    /// `sign`, `verify`; absent means whatever the material allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_ops: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crv: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e: Option<String>,
    /// Symmetric key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<String>,
    /// Private part of `EC` and `RSA` keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub d: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
}

const ED25519_BYTES: usize = 32;

/// The bytes that precede the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410 §7).
const ED25519_PKCS8_PREFIX: &[u8] = &[
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// A key that cannot be used, with the reason. Never shows key material.
#[derive(Debug, thiserror::Error)]
#[error("key {kid:?}: {reason}")]
pub struct JwkError {
    kid: Option<String>,
    reason: String,
}

impl std::fmt::Debug for JsonWebKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JsonWebKey")
            .field("kty", &self.kty)
            .field("kid", &self.kid)
            .finish_non_exhaustive()
    }
}

impl JsonWebKey {
    /// A symmetric key from the bytes of a shared secret.
    pub fn symmetric(secret: &[u8]) -> Self {
        Self {
            kty: "oct".into(),
            alg: Some("HS256".into()),
            k: Some(URL_SAFE_NO_PAD.encode(secret)),
            ..Self::default()
        }
    }

    /// Whether the key holds the material to sign: a private part or a shared secret.
    pub fn is_private(&self) -> bool {
        self.d.is_some() || self.k.is_some()
    }

    /// Whether the key is meant to sign: it holds the material, and its `key_ops`, if present, include `sign`.
    pub fn may_sign(&self) -> bool {
        let allows = |ops: &Vec<String>| ops.iter().any(|op| op == "sign");
        self.is_private() && self.key_ops.as_ref().is_none_or(allows)
    }

    /// Returns the key without its private part, for verification only.
    #[must_use]
    pub fn to_public(&self) -> Self {
        Self {
            d: None,
            p: None,
            q: None,
            key_ops: Some(vec!["verify".to_owned()]),
            ..self.clone()
        }
    }

    /// The public half as published in a key set, or `None` for a symmetric key, which has no public half.
    pub fn public_json(&self) -> Option<serde_json::Value> {
        // Publishing a symmetric key would allow everybody to sign tokens.
        if self.kty == "oct" {
            return None;
        }
        let mut public = serde_json::to_value(Self {
            d: None,
            p: None,
            q: None,
            k: None,
            ..self.clone()
        })
        .ok()?;
        // Set even if the stored key lacks it, so that a verifier need not guess the algorithm from the key type.
        public["alg"] = self
            .algorithms()
            .ok()?
            .first()
            .map(|algorithm| format!("{algorithm:?}"))?
            .into();
        public["use"] = "sig".into();
        public["key_ops"] = serde_json::json!(["verify"]);
        Some(public)
    }

    /// Algorithms whose tokens this key can verify; the first is the one it signs with.
    /// Restricting each key to its own algorithms prevents a token from choosing, for example, HMAC with a public key
    /// as the secret.
    ///
    /// # Errors
    /// An unsupported key type or curve, or an `alg` that does not belong to it.
    pub(crate) fn algorithms(&self) -> Result<Vec<Algorithm>, JwkError> {
        use Algorithm::{ES256, ES384, EdDSA, HS256, HS384, HS512, RS256, RS384, RS512};
        let family: &[Algorithm] = match (self.kty.as_str(), self.crv.as_deref()) {
            ("EC", Some("P-256")) => &[ES256],
            ("EC", Some("P-384")) => &[ES384],
            ("OKP", Some("Ed25519")) => &[EdDSA],
            ("RSA", _) => &[RS256, RS384, RS512],
            ("oct", _) => &[HS256, HS384, HS512],
            _ => return Err(self.unusable_key("unsupported key type or curve")),
        };
        match self.alg.as_deref() {
            None => Ok(family.to_vec()),
            Some(name) => family
                .iter()
                .find(|algorithm| format!("{algorithm:?}") == name)
                .map(|algorithm| vec![*algorithm])
                .ok_or_else(|| self.unusable_key("alg does not fit the key type")),
        }
    }

    /// The key in the form that verifies signatures.
    ///
    /// # Errors
    /// A missing or malformed member.
    pub(crate) fn decoding_key(&self) -> Result<DecodingKey, JwkError> {
        let made = match self.kty.as_str() {
            "EC" => DecodingKey::from_ec_components(
                self.get_member(&self.x, "x")?,
                self.get_member(&self.y, "y")?,
            ),
            "RSA" => DecodingKey::from_rsa_components(
                self.get_member(&self.n, "n")?,
                self.get_member(&self.e, "e")?,
            ),
            "OKP" => DecodingKey::from_ed_components(self.get_member(&self.x, "x")?),
            _ => return Ok(DecodingKey::from_secret(&self.decode_member(&self.k, "k")?)),
        };
        made.map_err(|_| self.unusable_key("malformed public part"))
    }

    /// The key in the form in which jsonwebtoken signs.
    ///
    /// # Errors
    /// A missing or malformed private member, or a type that cannot sign here.
    pub(crate) fn encoding_key(&self) -> Result<EncodingKey, JwkError> {
        match (self.kty.as_str(), self.crv.as_deref()) {
            ("oct", _) => Ok(EncodingKey::from_secret(&self.decode_member(&self.k, "k")?)),
            ("OKP", Some("Ed25519")) => {
                let seed = self.decode_member(&self.d, "d")?;
                if seed.len() != ED25519_BYTES {
                    return Err(self.unusable_key("malformed private part"));
                }
                Ok(EncodingKey::from_ed_der(&[ED25519_PKCS8_PREFIX, &seed].concat()))
            }
            _ => Err(self.unusable_key("signing needs an ES256, RS256, EdDSA or HS256 key")),
        }
    }

    /// The private P-256 key in the form that signs.
    ///
    /// # Errors
    /// A missing or malformed private member.
    pub(crate) fn p256_key_pair(&self) -> Result<EcdsaKeyPair, JwkError> {
        let malformed = || self.unusable_key("malformed private part");
        let private =
            p256::SecretKey::from_slice(&self.decode_member(&self.d, "d")?).map_err(|_| malformed())?;
        EcdsaKeyPair::from_private_key_and_public_key(
            &ECDSA_P256_SHA256_FIXED_SIGNING,
            &private.to_bytes(),
            private.public_key().to_encoded_point(false).as_bytes(),
            &SystemRandom::new(),
        )
        .map_err(|_| malformed())
    }

    /// The private RSA key in the form that signs (PKCS #1).
    ///
    /// # Errors
    /// A missing or malformed private member.
    pub(crate) fn rsa_key_pair(&self) -> Result<RsaKeyPair, JwkError> {
        let number = |value: &Option<String>, name| {
            self.decode_member(value, name)
                .map(|bytes| rsa::BigUint::from_bytes_be(&bytes))
        };
        let primes = vec![number(&self.p, "p")?, number(&self.q, "q")?];
        let (n, e, d) = (
            number(&self.n, "n")?,
            number(&self.e, "e")?,
            number(&self.d, "d")?,
        );
        // Computes the numbers that a JWK may leave out.
        let key = rsa::RsaPrivateKey::from_components(n, e, d, primes);
        let der = key.ok().and_then(|key| key.to_pkcs1_der().ok());
        der.and_then(|der| RsaKeyPair::from_der(der.as_bytes()).ok())
            .ok_or_else(|| self.unusable_key("malformed private part, or not of 2048 to 4096 bits"))
    }

    fn get_member<'a>(&self, value: &'a Option<String>, name: &str) -> Result<&'a str, JwkError> {
        value
            .as_deref()
            .ok_or_else(|| self.unusable_key(&format!("member {name} is missing")))
    }

    fn decode_member(&self, value: &Option<String>, name: &str) -> Result<Vec<u8>, JwkError> {
        let text = self.get_member(value, name)?;
        URL_SAFE_NO_PAD
            .decode(text.trim_end_matches('='))
            .map_err(|_| self.unusable_key(&format!("member {name} is not base64url")))
    }

    fn unusable_key(&self, reason: &str) -> JwkError {
        JwkError {
            kid: self.kid.clone(),
            reason: reason.to_owned(),
        }
    }
}
