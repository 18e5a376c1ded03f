//! The service provider's own RSA key: signatures of requests, its certificate, and decryption of what identity providers
//! encrypt for it.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};

use super::der::{Reader, tag, write_list, write_value};
use super::rsa_oaep::{OaepDigest, RsaDecryptor};

/// Why a configured key is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PrivateKeyError {
    /// The text is not Base64.
    #[error("it must be in standard Base64")]
    Base64,
    /// Not an RSA key of at least 2048 bit with the exponent 65537.
    #[error("it must be an RSA key in PKCS#1 DER, with at least 2048 bit and the exponent 65537")]
    NotRsa,
    /// A size that decryption does not support.
    #[error("it must be an RSA key of 2048, 3072 or 4096 bit")]
    Size,
}

/// An RSA key in all the forms in which it is used.
pub struct PrivateKey {
    key_pair: RsaKeyPair,
    decryptor: RsaDecryptor,
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey")
    }
}

impl PrivateKey {
    /// Reads a key in PKCS#1 DER, written in standard Base64.
    ///
    /// # Errors
    /// [`PrivateKeyError`].
    pub fn from_base64(text: &str) -> Result<Self, PrivateKeyError> {
        let der = STANDARD
            .decode(text.trim())
            .map_err(|_| PrivateKeyError::Base64)?;
        let key_pair = RsaKeyPair::from_der(&der).map_err(|_| PrivateKeyError::NotRsa)?;
        let [modulus, exponent, private] = read_numbers(&der).ok_or(PrivateKeyError::NotRsa)?;
        if exponent != [1, 0, 1] {
            return Err(PrivateKeyError::NotRsa);
        }
        let decryptor = RsaDecryptor::new(modulus, private).ok_or(PrivateKeyError::Size)?;
        Ok(Self { key_pair, decryptor })
    }

    /// RSA PKCS#1 v1.5 with SHA-256.
    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        let mut signature = vec![0; self.key_pair.public().modulus_len()];
        let signed = self
            .key_pair
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature);
        // The key was checked when it was read, and the buffer has the size of its modulus.
        signed.expect("a checked RSA key signs any message");
        signature
    }

    /// Decrypts a key that was encrypted by RSA-OAEP; `None` for any kind of fault.
    pub(crate) fn decrypt(
        &self,
        encrypted: &[u8],
        digest: OaepDigest,
        mask_digest: OaepDigest,
    ) -> Option<Vec<u8>> {
        self.decryptor.decrypt(encrypted, digest, mask_digest)
    }

    /// The certificate that metadata shows, in DER. It is a function of its arguments, so that it stays the same over
    /// restarts and nodes and identity providers can keep it. Compat: byte for byte the original's.
    #[must_use]
    pub fn certificate(&self, host: &str, is_for_encryption: bool) -> Vec<u8> {
        let body = self.certificate_body(host, is_for_encryption);
        let signature = self.sign(&body);
        write_list(
            tag::SEQUENCE,
            &[body, sha256_with_rsa(), write_bit_string(&signature)],
        )
    }

    fn certificate_body(&self, host: &str, is_for_encryption: bool) -> Vec<u8> {
        let common_name = format!("SAML 2.0 Certificate for {host}");
        let name = write_list(
            tag::SEQUENCE,
            &[write_list(
                tag::SET,
                &[write_list(
                    tag::SEQUENCE,
                    &[
                        write_value(tag::OID, &[0x55, 0x04, 0x03]), // commonName
                        write_value(tag::PRINTABLE_STRING, common_name.as_bytes()),
                    ],
                )],
            )],
        );
        let validity = write_list(
            tag::SEQUENCE,
            &[
                write_value(tag::UTC_TIME, b"700101000000Z"),
                write_value(tag::GENERALIZED_TIME, b"21700101000000Z"),
            ],
        );
        let key_info = write_list(
            tag::SEQUENCE,
            &[
                // rsaEncryption
                write_list(
                    tag::SEQUENCE,
                    &[
                        write_value(tag::OID, &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]),
                        write_value(tag::NULL, &[]),
                    ],
                ),
                write_bit_string(self.key_pair.public().as_ref()),
            ],
        );
        write_list(
            tag::SEQUENCE,
            &[
                write_value(tag::CONTEXT_0, &write_value(tag::INTEGER, &[2])),
                write_value(tag::INTEGER, &[0]),
                sha256_with_rsa(),
                name.clone(),
                validity,
                name,
                key_info,
                write_extensions(host, is_for_encryption),
            ],
        )
    }
}

fn write_extensions(host: &str, is_for_encryption: bool) -> Vec<u8> {
    // Bits count from the left: digitalSignature is the first, dataEncipherment the fourth. The first byte counts the
    // unused bits at the end.
    let usage: &[u8] = if is_for_encryption { &[4, 0x90] } else { &[7, 0x80] };
    let key_usage = write_list(
        tag::SEQUENCE,
        &[
            write_value(tag::OID, &[0x55, 0x1d, 0x0f]),
            write_value(tag::BOOLEAN, &[0xff]),
            write_value(tag::OCTET_STRING, &write_value(tag::BIT_STRING, usage)),
        ],
    );
    let dns_name = write_value(tag::CONTEXT_2_PRIMITIVE, format!("_samlsp.{host}").as_bytes());
    let alternative_name = write_list(
        tag::SEQUENCE,
        &[
            write_value(tag::OID, &[0x55, 0x1d, 0x11]),
            write_value(tag::OCTET_STRING, &write_value(tag::SEQUENCE, &dns_name)),
        ],
    );
    let extensions = write_list(tag::SEQUENCE, &[key_usage, alternative_name]);
    write_value(tag::CONTEXT_3, &extensions)
}

fn sha256_with_rsa() -> Vec<u8> {
    write_list(
        tag::SEQUENCE,
        &[
            write_value(tag::OID, &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b]),
            write_value(tag::NULL, &[]),
        ],
    )
}

fn write_bit_string(bytes: &[u8]) -> Vec<u8> {
    write_value(tag::BIT_STRING, &[&[0], bytes].concat())
}

/// Modulus, public and private exponent of `RSAPrivateKey` (RFC 8017 A.1.2), without leading zeros.
fn read_numbers(der: &[u8]) -> Option<[&[u8]; 3]> {
    let mut key = Reader::new(Reader::new(der).take(tag::SEQUENCE)?);
    key.take(tag::INTEGER)?; // version
    let mut number = || {
        let digits = key.take(tag::INTEGER)?;
        Some(digits.strip_prefix(&[0]).unwrap_or(digits))
    };
    Some([number()?, number()?, number()?])
}
