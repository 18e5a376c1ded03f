//! Generation of signing keys for `selvedge keys rotate`.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::elliptic_curve::sec1::ToEncodedPoint;
use rsa::traits::{PrivateKeyParts, PublicKeyParts};

use crate::JsonWebKey;

/// The algorithm of a new signing key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAlgorithm {
    /// P-256: short tokens, understood by every client.
    Es256,
    /// RSA, 2048 bits.
    Rs256,
    /// Ed25519. The stock client's `getClaims` cannot verify such tokens itself and sends a request to the server for each
    /// one.
    EdDsa,
}

const RSA_BITS: usize = 2048;

/// Generates a private key with a random `kid`, allowed to sign and to verify.
pub fn generate_signing_key(algorithm: KeyAlgorithm) -> JsonWebKey {
    let key = match algorithm {
        KeyAlgorithm::Es256 => generate_es256(),
        KeyAlgorithm::Rs256 => generate_rs256(),
        KeyAlgorithm::EdDsa => generate_ed_dsa(),
    };
    JsonWebKey {
        kid: Some(uuid::Uuid::new_v4().to_string()),
        key_ops: Some(vec!["sign".to_owned(), "verify".to_owned()]),
        ..key
    }
}

fn generate_es256() -> JsonWebKey {
    let key = loop {
        // A private key must be below the order of the curve. About one random number in 2³² is not, and then another one
        // is drawn.
        if let Ok(key) = p256::SecretKey::from_slice(&generate_bytes()) {
            break key;
        }
    };
    let point = key.public_key().to_encoded_point(false);
    JsonWebKey {
        kty: "EC".into(),
        alg: Some("ES256".into()),
        crv: Some("P-256".into()),
        x: point.x().map(|x| URL_SAFE_NO_PAD.encode(x)),
        y: point.y().map(|y| URL_SAFE_NO_PAD.encode(y)),
        d: Some(URL_SAFE_NO_PAD.encode(key.to_bytes())),
        ..JsonWebKey::default()
    }
}

fn generate_rs256() -> JsonWebKey {
    let key = rsa::RsaPrivateKey::new(&mut rsa::rand_core::OsRng, RSA_BITS)
        .expect("primes of this size can be found");
    // RFC 7518 §6.3: numbers are unsigned and big-endian, without leading zeros.
    let number = |number: &rsa::BigUint| Some(URL_SAFE_NO_PAD.encode(number.to_bytes_be()));
    JsonWebKey {
        kty: "RSA".into(),
        alg: Some("RS256".into()),
        n: number(key.n()),
        e: number(key.e()),
        d: number(key.d()),
        // Only the primes: readers compute the other private numbers from them.
        p: key.primes().first().and_then(number),
        q: key.primes().get(1).and_then(number),
        ..JsonWebKey::default()
    }
}

fn generate_ed_dsa() -> JsonWebKey {
    let seed = generate_bytes();
    let key = ed25519_dalek::SigningKey::from_bytes(&seed);
    JsonWebKey {
        kty: "OKP".into(),
        alg: Some("EdDSA".into()),
        crv: Some("Ed25519".into()),
        x: Some(URL_SAFE_NO_PAD.encode(key.verifying_key().as_bytes())),
        d: Some(URL_SAFE_NO_PAD.encode(seed)),
        ..JsonWebKey::default()
    }
}

fn generate_bytes() -> [u8; 32] {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).expect("the operating system has a source of randomness");
    bytes
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{IssuerKeys, KeyRing, TokenError};

    const SECRET: &[u8] = b"a-secret-with-at-least-thirty-two-bytes";

    #[test]
    fn auth_050_every_algorithm_signs_and_its_public_half_verifies() {
        for algorithm in [KeyAlgorithm::Es256, KeyAlgorithm::Rs256, KeyAlgorithm::EdDsa] {
            let key = generate_signing_key(algorithm);
            let ring = KeyRing::new(SECRET, std::slice::from_ref(&key)).expect("usable");

            let token = ring.sign(&json!({"sub": "a"})).expect("signs");

            assert!(ring.verify(&token).is_ok() && ring.signs_asymmetrically());
            let public = ring.public_jwks();
            assert!(IssuerKeys::from_jwks(&public).verify(&token).is_ok());
            assert_eq!(public["keys"][0]["kid"], json!(key.kid));
            for member in ["d", "p", "q", "k"] {
                assert_eq!(public["keys"][0].get(member), None, "{algorithm:?} {member}");
            }
        }
    }

    #[test]
    fn auth_050_after_a_rotation_the_new_key_signs_and_the_old_one_verifies() {
        let old = generate_signing_key(KeyAlgorithm::Es256);
        let before = KeyRing::new(SECRET, std::slice::from_ref(&old)).expect("usable");
        let old_token = before.sign(&json!({"sub": "a"})).expect("signs");
        let new = generate_signing_key(KeyAlgorithm::EdDsa);

        let after = KeyRing::new(SECRET, &[old.to_public(), new.clone()]).expect("usable");

        assert!(after.verify(&old_token).is_ok());
        let new_token = after.sign(&json!({"sub": "a"})).expect("signs");
        assert_eq!(
            before.verify(&new_token).map(|_| ()),
            Err(TokenError::NoKeyOfAlgorithm("EdDSA".to_owned()))
        );
        assert_eq!(after.public_jwks()["keys"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn a_key_that_may_only_verify_never_signs() {
        let mut verify_only = generate_signing_key(KeyAlgorithm::Es256);
        verify_only.key_ops = Some(vec!["verify".to_owned()]);

        let ring = KeyRing::new(SECRET, &[verify_only]).expect("usable");

        assert!(!ring.signs_asymmetrically());
    }

    #[test]
    fn a_secret_in_a_published_key_set_verifies_nothing() {
        let ring = KeyRing::new(SECRET, &[]).expect("usable");
        let token = ring.sign(&json!({"sub": "a"})).expect("signs");

        let published = json!({"keys": [JsonWebKey::symmetric(SECRET)]});

        assert_eq!(
            IssuerKeys::from_jwks(&published).verify(&token).map(|_| ()),
            Err(TokenError::NoKeyOfAlgorithm("HS256".to_owned()))
        );
    }
}
