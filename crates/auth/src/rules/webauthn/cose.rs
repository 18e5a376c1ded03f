//! Public keys as authenticators write them (COSE, RFC 9053), and their signatures.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ciborium::Value as Cbor;
use jsonwebtoken::{Algorithm, DecodingKey};
use p256::ecdsa::signature::Verifier;
use p256::ecdsa::{Signature, VerifyingKey};

use super::WebauthnError;

const ES256: i64 = -7;
const EDDSA: i64 = -8;
const RS256: i64 = -257;

/// The algorithms that we accept, best first.
pub(super) const ALGORITHMS: [i64; 3] = [ES256, EDDSA, RS256];

/// A key that can be checked against.
pub(super) enum PublicKey {
    Es256(VerifyingKey),
    EdDsa(DecodingKey),
    Rs256(DecodingKey),
}

impl PublicKey {
    /// Reads a COSE key.
    ///
    /// # Errors
    /// [`WebauthnError::UnknownKey`]
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, WebauthnError> {
        let key: Cbor = ciborium::from_reader(bytes).map_err(|_| WebauthnError::Malformed)?;
        let members = key.as_map().ok_or(WebauthnError::Malformed)?;
        let get = |label: i64| {
            let found = members.iter().find(|(name, _)| integer(name) == Some(label));
            found.map(|(_, value)| value)
        };
        let number = |label: i64| get(label).and_then(integer);
        let bytes = |label: i64| {
            get(label)
                .and_then(Cbor::as_bytes)
                .ok_or(WebauthnError::UnknownKey)
        };
        let text = |label: i64| bytes(label).map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
        match (number(1), number(3), number(-1)) {
            (Some(2), Some(ES256), Some(1)) => {
                let (x, y) = (bytes(-2)?, bytes(-3)?);
                if x.len() != 32 || y.len() != 32 {
                    return Err(WebauthnError::UnknownKey);
                }
                // SEC 1: 4 means that both coordinates follow.
                let point = [&[4], x.as_slice(), y.as_slice()].concat();
                VerifyingKey::from_sec1_bytes(&point)
                    .map(Self::Es256)
                    .map_err(|_| WebauthnError::UnknownKey)
            }
            (Some(1), Some(EDDSA), Some(6)) => DecodingKey::from_ed_components(&text(-2)?)
                .map(Self::EdDsa)
                .map_err(|_| WebauthnError::UnknownKey),
            // The modulus is where curves have their name, so the third number is none.
            (Some(3), Some(RS256), None) => DecodingKey::from_rsa_components(&text(-1)?, &text(-2)?)
                .map(Self::Rs256)
                .map_err(|_| WebauthnError::UnknownKey),
            _ => Err(WebauthnError::UnknownKey),
        }
    }

    /// Whether `signature` is this key's, over `message`.
    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        let by_library = |key: &DecodingKey, algorithm| {
            let signature = URL_SAFE_NO_PAD.encode(signature);
            jsonwebtoken::crypto::verify(&signature, message, key, algorithm).unwrap_or(false)
        };
        match self {
            Self::Es256(key) => {
                Signature::from_der(signature).is_ok_and(|signature| key.verify(message, &signature).is_ok())
            }
            Self::EdDsa(key) => by_library(key, Algorithm::EdDSA),
            Self::Rs256(key) => by_library(key, Algorithm::RS256),
        }
    }
}

fn integer(value: &Cbor) -> Option<i64> {
    value.as_integer().and_then(|number| number.try_into().ok())
}
