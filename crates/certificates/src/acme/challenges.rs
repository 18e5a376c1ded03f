//! Answers to challenges, by which a certificate authority convinces itself that this server has a domain: a text below
//! `/.well-known/acme-challenge/` on port 80 (HTTP-01), or a certificate for one protocol on port 443 (TLS-ALPN-01).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use instant_acme::KeyAuthorization;
use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;

use super::AcmeError;

/// The answers that are given now. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Challenges {
    answers: Arc<Mutex<Answers>>,
}

#[derive(Debug, Default)]
struct Answers {
    /// By token.
    texts: HashMap<String, String>,
    /// By domain.
    certificates: HashMap<String, Arc<CertifiedKey>>,
}

impl Challenges {
    /// The text for a token of HTTP-01.
    #[must_use]
    pub fn find_text(&self, token: &str) -> Option<String> {
        self.lock().texts.get(token).cloned()
    }

    /// The certificate for a domain of TLS-ALPN-01.
    pub(super) fn find_certificate(&self, domain: &str) -> Option<Arc<CertifiedKey>> {
        self.lock()
            .certificates
            .get(&domain.to_ascii_lowercase())
            .cloned()
    }

    /// Answers with a text until the order is over.
    pub(super) fn add_text(&self, token: &str, authorization: &KeyAuthorization) {
        let text = authorization.as_str().to_owned();
        self.lock().texts.insert(token.to_owned(), text);
    }

    /// Answers with a certificate until the order is over.
    pub(super) fn add_certificate(
        &self,
        domain: &str,
        authorization: &KeyAuthorization,
    ) -> Result<(), AcmeError> {
        let certificate = make_challenge_certificate(domain, authorization.digest().as_ref())?;
        self.lock()
            .certificates
            .insert(domain.to_ascii_lowercase(), Arc::new(certificate));
        Ok(())
    }

    /// Removes all answers, when the order is over.
    pub(super) fn clear(&self) {
        *self.lock() = Answers::default();
    }

    fn lock(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A certificate that signs itself and holds the digest of the authorization (RFC 8737 §3).
fn make_challenge_certificate(domain: &str, digest: &[u8]) -> Result<CertifiedKey, AcmeError> {
    let mut parameters = CertificateParams::new(vec![domain.to_owned()])?;
    parameters.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
    let key = KeyPair::generate()?;
    let certificate = parameters.self_signed(&key)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = rustls::crypto::ring::default_provider();
    let key = provider.key_provider.load_private_key(key)?;
    // Not checked as another certificate is: rustls does not know its critical extension.
    Ok(CertifiedKey::new(vec![certificate.der().clone()], key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_020_a_challenge_by_tls_is_answered_by_a_certificate_with_the_digest() {
        let digest = [7; 32];
        let made = make_challenge_certificate("a.example", &digest).expect("made");

        // OID 1.3.6.1.5.5.7.1.31, critical, with the digest as an octet string.
        let expected = [
            &[
                0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x1f, 0x01, 0x01, 0xff, 0x04, 0x22,
                0x04, 0x20,
            ][..],
            &digest,
        ]
        .concat();
        let bytes: &[u8] = made.cert[0].as_ref();
        assert!(bytes.windows(expected.len()).any(|window| window == expected));
    }
}
