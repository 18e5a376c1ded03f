//! Public keys of identity providers, read from their certificates, and signatures checked with them.
//!
//! A certificate is only the wrapping in which metadata brings a key: the key counts because an administrator trusts the
//! metadata. Dates, names and the certificate's own signature are therefore not looked at.

use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};

use super::der::{Reader, tag};

/// 1.2.840.113549.1.1.1
const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
/// 1.2.840.10045.2.1
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
/// 1.2.840.10045.3.1.7
const CURVE_P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
/// 1.3.132.0.34
const CURVE_P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];

/// A signature method of XML signatures that is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignatureMethod {
    /// RSA PKCS#1 v1.5 with SHA-1.
    RsaSha1,
    /// RSA PKCS#1 v1.5 with SHA-256.
    RsaSha256,
    /// RSA PKCS#1 v1.5 with SHA-384.
    RsaSha384,
    /// RSA PKCS#1 v1.5 with SHA-512.
    RsaSha512,
    /// ECDSA with SHA-256; the signature is r and s one after the other.
    EcdsaSha256,
    /// ECDSA with SHA-384.
    EcdsaSha384,
}

/// A key that signatures are checked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    kind: KeyKind,
    /// `RSAPublicKey` of PKCS#1, or the point of an elliptic curve.
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyKind {
    Rsa,
    P256,
    P384,
}

impl PublicKey {
    /// Reads the key of an X.509 certificate in DER; `None` if it is not a certificate or has another kind of key.
    #[must_use]
    pub fn from_certificate(der: &[u8]) -> Option<Self> {
        let mut certificate = Reader::new(Reader::new(der).take(tag::SEQUENCE)?);
        let mut body = Reader::new(certificate.take(tag::SEQUENCE)?);
        if body.next_tag() == Some(tag::CONTEXT_0) {
            body.take_any()?; // The version, which certificates of version 1 leave out.
        }
        body.take(tag::INTEGER)?; // serial number
        body.take(tag::SEQUENCE)?; // signature algorithm
        body.take(tag::SEQUENCE)?; // issuer
        body.take(tag::SEQUENCE)?; // validity
        body.take(tag::SEQUENCE)?; // subject
        let mut info = Reader::new(body.take(tag::SEQUENCE)?);
        let mut algorithm = Reader::new(info.take(tag::SEQUENCE)?);
        // The key's algorithm is compared and not guessed from its bytes, so that a point is never read as an RSA key.
        let kind = match algorithm.take(tag::OID)? {
            RSA_ENCRYPTION => KeyKind::Rsa,
            EC_PUBLIC_KEY => match algorithm.take(tag::OID)? {
                CURVE_P256 => KeyKind::P256,
                CURVE_P384 => KeyKind::P384,
                _ => return None,
            },
            _ => return None,
        };
        // The first byte of a bit string counts its unused bits, of which a key has none.
        let bytes = info.take(tag::BIT_STRING)?.strip_prefix(&[0])?.to_vec();
        Some(Self { kind, bytes })
    }

    /// Whether the signature is one of `message` by this key. RSA keys below 2048 bit never verify anything.
    pub(crate) fn is_signature_of(&self, method: SignatureMethod, message: &[u8], signature: &[u8]) -> bool {
        let algorithm: &dyn VerificationAlgorithm = match (self.kind, method) {
            (KeyKind::Rsa, SignatureMethod::RsaSha1) => {
                &signature::RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY
            }
            (KeyKind::Rsa, SignatureMethod::RsaSha256) => &signature::RSA_PKCS1_2048_8192_SHA256,
            (KeyKind::Rsa, SignatureMethod::RsaSha384) => &signature::RSA_PKCS1_2048_8192_SHA384,
            (KeyKind::Rsa, SignatureMethod::RsaSha512) => &signature::RSA_PKCS1_2048_8192_SHA512,
            (KeyKind::P256, SignatureMethod::EcdsaSha256) => &signature::ECDSA_P256_SHA256_FIXED,
            (KeyKind::P384, SignatureMethod::EcdsaSha384) => &signature::ECDSA_P384_SHA384_FIXED,
            // Another method than the key's own, for example HMAC with the public key as the secret.
            _ => return false,
        };
        UnparsedPublicKey::new(algorithm, &self.bytes)
            .verify(message, signature)
            .is_ok()
    }
}
