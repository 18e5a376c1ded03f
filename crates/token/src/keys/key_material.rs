//! The key material that an operator configures for verification: a shared secret, a JWK, or a JWKS. Source: REST
//! contract §7.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use crate::{JsonWebKey, JwkError};

/// The minimum length of a shared secret in bytes. Shorter ones can be found by brute force from a single token.
const MIN_SECRET_BYTES: usize = 32;

/// Standard base64 with or without padding; URL-safe characters are replaced before decoding.
const LENIENT_BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Why the material holds no usable key. Never shows the material.
#[derive(Debug, thiserror::Error)]
pub enum KeyMaterialError {
    #[error("is not base64")]
    NotBase64,
    #[error("must be at least {MIN_SECRET_BYTES} characters long")]
    TooShort,
    #[error("is a set of keys without one that can be used")]
    NoKey,
    #[error(transparent)]
    Key(#[from] JwkError),
}

impl JsonWebKey {
    /// Reads `jwt-secret`: a shared secret of at least 32 characters (HS256), one JWK, or a JWKS; all of it in base64
    /// when `is_base64`.
    ///
    /// # Errors
    /// What is wrong with it, without showing it.
    pub fn parse_material(text: &str, is_base64: bool) -> Result<Vec<Self>, KeyMaterialError> {
        let bytes = if is_base64 {
            let plain: String = text
                .chars()
                .filter(|c| !c.is_ascii_whitespace())
                .map(|c| match c {
                    '-' => '+',
                    '_' => '/',
                    '.' => '=',
                    other => other,
                })
                .collect();
            LENIENT_BASE64
                .decode(plain)
                .map_err(|_| KeyMaterialError::NotBase64)?
        } else {
            text.as_bytes().to_vec()
        };
        // Anything that is not a JSON object is the secret itself.
        let Ok(Value::Object(map)) = serde_json::from_slice::<Value>(&bytes) else {
            return Self::parse_shared_secret(&bytes);
        };
        match map.get("keys") {
            Some(Value::Array(keys)) => {
                // Unusable keys of a set are skipped: a published set may hold keys for other purposes, such as encryption.
                let usable: Vec<Self> = keys
                    .iter()
                    .filter_map(|key| serde_json::from_value(key.clone()).ok())
                    .filter(|key: &Self| key.algorithms().is_ok() && key.decoding_key().is_ok())
                    .collect();
                if usable.is_empty() {
                    return Err(KeyMaterialError::NoKey);
                }
                Ok(usable)
            }
            _ if map.contains_key("kty") => {
                let key: Self =
                    serde_json::from_value(Value::Object(map)).map_err(|_| KeyMaterialError::NoKey)?;
                key.algorithms()?;
                key.decoding_key()?;
                Ok(vec![key])
            }
            _ => Self::parse_shared_secret(&bytes),
        }
    }

    fn parse_shared_secret(bytes: &[u8]) -> Result<Vec<Self>, KeyMaterialError> {
        if bytes.len() < MIN_SECRET_BYTES {
            return Err(KeyMaterialError::TooShort);
        }
        Ok(vec![Self::symmetric(bytes)])
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD as PADDED, URL_SAFE_NO_PAD};
    use serde_json::json;

    use super::*;
    use crate::{KeyRing, Verifier, development};

    const SECRET: &str = "a-shared-secret-of-at-least-32-characters";

    fn verifies(material: &str, is_base64: bool) -> bool {
        let ring = KeyRing::new(SECRET.as_bytes(), &[development::signing_key()]).expect("usable");
        let tokens = [
            ring.sign_hs256(&json!({})).expect("signs"),
            ring.sign(&json!({})).expect("signs"),
        ];
        let keys = JsonWebKey::parse_material(material, is_base64).expect("usable");
        let verifier = Verifier::new(&keys, 0).expect("usable");
        tokens.iter().any(|token| verifier.verify(token).is_ok())
    }

    #[test]
    fn rest_007_a_secret_may_be_text_base64_a_key_or_a_set_of_keys() {
        let oct = json!({ "kty": "oct", "k": URL_SAFE_NO_PAD.encode(SECRET), "alg": "HS256" });
        let ec = development::signing_key().public_json().expect("asymmetric");
        let set = json!({ "keys": [{ "kty": "unknown" }, ec, oct] }).to_string();

        assert!(verifies(SECRET, false));
        assert!(verifies(&PADDED.encode(SECRET), true));
        assert!(verifies(&URL_SAFE_NO_PAD.encode(SECRET), true));
        assert!(verifies(&oct.to_string(), false));
        assert!(verifies(&ec.to_string(), false));
        assert!(verifies(&set, false));
        assert!(verifies(&PADDED.encode(&set), true));
    }

    #[test]
    fn rest_007_bad_material_is_refused_without_being_shown() {
        for (material, is_base64) in [
            ("too-short-hunter2", false),
            ("*not base64, hunter2 hunter2 hunter2 hunter2*", true),
            (r#"{"keys":[{"kty":"hunter2"}]}"#, false),
            (r#"{"kty":"EC","crv":"P-256","x":"hunter2","y":"hunter2"}"#, false),
        ] {
            let message = JsonWebKey::parse_material(material, is_base64)
                .map(drop)
                .expect_err("no key")
                .to_string();
            assert!(!message.contains("hunter2"), "{message}");
        }
    }
}
