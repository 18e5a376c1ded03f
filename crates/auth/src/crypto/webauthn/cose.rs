//! Public keys of authenticators (COSE, RFC 9052 §7 and RFC 9053 §7), and the verification of their signatures.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ciborium::Value as Cbor;
use jsonwebtoken::{Algorithm, DecodingKey};
use p256::ecdsa::signature::Verifier;
use p256::ecdsa::{Signature, VerifyingKey};

use super::error::WebauthnError;

// Algorithm numbers of the IANA COSE registry.
const ES256: i64 = -7;
const EDDSA: i64 = -8;
const RS256: i64 = -257;

/// COSE numbers of the accepted algorithms, the most preferred first.
pub(super) const ALGORITHMS: [i64; 3] = [ES256, EDDSA, RS256];

/// A public key that verifies signatures.
pub(super) enum PublicKey {
    Es256(VerifyingKey),
    EdDsa(DecodingKey),
    Rs256(DecodingKey),
}

impl PublicKey {
    /// Parses a COSE key of one of [`ALGORITHMS`].
    ///
    /// # Errors
    /// [`WebauthnError::Malformed`] for bytes that are not a CBOR map, [`WebauthnError::UnknownKey`] for another
    /// algorithm, another curve or an invalid key.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, WebauthnError> {
        let key: Cbor = ciborium::from_reader(bytes).map_err(|_| WebauthnError::Malformed)?;
        let members = key.as_map().ok_or(WebauthnError::Malformed)?;
        let get = |label: i64| {
            let found = members.iter().find(|(name, _)| read_integer(name) == Some(label));
            found.map(|(_, value)| value)
        };
        let number = |label: i64| get(label).and_then(read_integer);
        let bytes = |label: i64| {
            get(label)
                .and_then(Cbor::as_bytes)
                .ok_or(WebauthnError::UnknownKey)
        };
        let text = |label: i64| bytes(label).map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
        // Label 1 is the key type (1 OKP, 2 EC2, 3 RSA), 3 the algorithm, -1 the curve id (1 P-256, 6 Ed25519).
        match (number(1), number(3), number(-1)) {
            (Some(2), Some(ES256), Some(1)) => {
                let (x, y) = (bytes(-2)?, bytes(-3)?);
                if x.len() != 32 || y.len() != 32 {
                    return Err(WebauthnError::UnknownKey);
                }
                // SEC 1 §2.3.3: the byte 4 says that both coordinates follow (an uncompressed point).
                let point = [&[4], x.as_slice(), y.as_slice()].concat();
                VerifyingKey::from_sec1_bytes(&point)
                    .map(Self::Es256)
                    .map_err(|_| WebauthnError::UnknownKey)
            }
            (Some(1), Some(EDDSA), Some(6)) => DecodingKey::from_ed_components(&text(-2)?)
                .map(Self::EdDsa)
                .map_err(|_| WebauthnError::UnknownKey),
            // In an RSA key label -1 holds the modulus, not a curve id, so `number(-1)` is `None`.
            (Some(3), Some(RS256), None) => DecodingKey::from_rsa_components(&text(-1)?, &text(-2)?)
                .map(Self::Rs256)
                .map_err(|_| WebauthnError::UnknownKey),
            _ => Err(WebauthnError::UnknownKey),
        }
    }

    /// Whether `signature` is a valid signature of `message` by this key. ES256 signatures of WebAuthn are in ASN.1
    /// DER, unlike those of JWTs.
    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        let verify_with_jsonwebtoken = |key: &DecodingKey, algorithm| {
            let signature = URL_SAFE_NO_PAD.encode(signature);
            jsonwebtoken::crypto::verify(&signature, message, key, algorithm).unwrap_or(false)
        };
        match self {
            Self::Es256(key) => {
                Signature::from_der(signature).is_ok_and(|signature| key.verify(message, &signature).is_ok())
            }
            Self::EdDsa(key) => verify_with_jsonwebtoken(key, Algorithm::EdDSA),
            Self::Rs256(key) => verify_with_jsonwebtoken(key, Algorithm::RS256),
        }
    }
}

/// Returns a CBOR integer; `None` for other types and numbers beyond 64 bits.
fn read_integer(value: &Cbor) -> Option<i64> {
    value.as_integer().and_then(|number| number.try_into().ok())
}
