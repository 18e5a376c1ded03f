//! A certificate with its private key, and what its fields say.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use instant_acme::CertificateIdentifier;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier as _;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, Der, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{CertificateError as Distrust, RootCertStore};
use sha2::{Digest as _, Sha256};
use x509_cert::der::Decode as _;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{AuthorityKeyIdentifier, SubjectAltName};

/// Why PEM texts are no certificate that can be served.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The chain holds no certificate, or one that cannot be read.
    #[error("the certificate cannot be read: {0}")]
    Chain(String),
    /// The private key cannot be read.
    #[error("the private key cannot be read: {0}")]
    Key(String),
    /// The key is that of another certificate.
    #[error("certificate and key do not fit together: {0}")]
    Mismatch(String),
}

/// A certificate that can be served.
#[derive(Debug)]
pub struct Certificate {
    key: Arc<CertifiedKey>,
    names: Vec<String>,
    not_before: SystemTime,
    not_after: SystemTime,
    /// Who has issued it, as its field says.
    issuer: String,
    /// By which the authority knows it, for its advice on renewal (RFC 9773).
    identifier: Option<CertificateIdentifier<'static>>,
    fingerprint: [u8; 32],
}

impl Certificate {
    /// Reads a chain, its own certificate first, and the private key of that.
    ///
    /// # Errors
    /// [`CertificateError`].
    pub fn parse(chain: &[u8], key: &[u8]) -> Result<Self, CertificateError> {
        let unreadable = |error: &dyn std::fmt::Display| CertificateError::Chain(error.to_string());
        let chain = CertificateDer::pem_slice_iter(chain)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| unreadable(&error))?;
        let own = chain
            .first()
            .ok_or_else(|| unreadable(&"there is none in the file"))?;
        let parsed = x509_cert::Certificate::from_der(own).map_err(|error| unreadable(&error))?;
        let fields = &parsed.tbs_certificate;
        let key =
            PrivateKeyDer::from_pem_slice(key).map_err(|error| CertificateError::Key(error.to_string()))?;
        let fingerprint = Sha256::digest(own).into();
        let names = list_names(&parsed);
        let identifier = find_identifier(&parsed);
        let issuer = fields.issuer.to_string();
        let (not_before, not_after) = (
            fields.validity.not_before.to_system_time(),
            fields.validity.not_after.to_system_time(),
        );
        // Named explicitly: if a dependency compiles in a second provider, rustls has no default and panics.
        let provider = rustls::crypto::ring::default_provider();
        let key = CertifiedKey::from_der(chain, key, &provider)
            .map_err(|error| CertificateError::Mismatch(error.to_string()))?;
        Ok(Self {
            key: Arc::new(key),
            names,
            not_before,
            not_after,
            issuer,
            identifier,
            fingerprint,
        })
    }

    /// The names that it is valid for.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Why a client that trusts these authorities refuses the chain today; `None` where it does not.
    pub(crate) fn find_distrust(&self, roots: RootCertStore) -> Option<String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        let verifier = match verifier {
            Ok(verifier) => verifier,
            Err(error) => return Some(error.to_string()),
        };
        let (own, intermediates) = self.key.cert.split_first()?;
        let mut names = self.names.iter().map(|name| ServerName::try_from(name.as_str()));
        let name = names.find_map(Result::ok)?;
        match verifier.verify_server_cert(own, intermediates, &name, &[], UnixTime::now()) {
            Ok(_) => None,
            // The second where another authority has the same name.
            Err(rustls::Error::InvalidCertificate(Distrust::UnknownIssuer | Distrust::BadSignature)) => {
                Some(format!("this machine does not trust its issuer, {}", self.issuer))
            }
            Err(error) => Some(error.to_string()),
        }
    }

    /// When it expires.
    #[must_use]
    pub fn not_after(&self) -> SystemTime {
        self.not_after
    }

    pub(crate) fn not_before(&self) -> SystemTime {
        self.not_before
    }

    pub(crate) fn lifetime(&self) -> Duration {
        self.not_after.duration_since(self.not_before).unwrap_or_default()
    }

    pub(crate) fn key(&self) -> Arc<CertifiedKey> {
        self.key.clone()
    }

    pub(crate) fn identifier(&self) -> Option<&CertificateIdentifier<'static>> {
        self.identifier.as_ref()
    }

    /// Whether it is valid for a name that a client asks for. Wildcards stand for one label.
    pub(crate) fn covers(&self, name: &str) -> bool {
        let parent = name.split_once('.').map(|(_, parent)| parent);
        self.names.iter().any(|own| match own.strip_prefix("*.") {
            Some(domain) => parent.is_some_and(|parent| parent.eq_ignore_ascii_case(domain)),
            None => own.eq_ignore_ascii_case(name),
        })
    }

    /// A number from 0 to 1 that is the same for this certificate at every start, so that servers renew at different times.
    pub(crate) fn fraction(&self) -> f64 {
        f64::from(u16::from_be_bytes([self.fingerprint[0], self.fingerprint[1]])) / f64::from(u16::MAX)
    }
}

fn list_names(certificate: &x509_cert::Certificate) -> Vec<String> {
    let found = certificate.tbs_certificate.get::<SubjectAltName>();
    let Ok(Some((_, SubjectAltName(names)))) = found else {
        return Vec::new();
    };
    let names = names.into_iter().filter_map(|name| match name {
        GeneralName::DnsName(name) => Some(name.to_string()),
        _ => None,
    });
    names.collect()
}

fn find_identifier(certificate: &x509_cert::Certificate) -> Option<CertificateIdentifier<'static>> {
    let fields = &certificate.tbs_certificate;
    let (_, authority) = fields.get::<AuthorityKeyIdentifier>().ok()??;
    let authority = authority.key_identifier?;
    let identifier = CertificateIdentifier::new(
        Der::from_slice(authority.as_bytes()),
        Der::from_slice(fields.serial_number.as_bytes()),
    );
    Some(identifier.into_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    /// The PEM texts of a certificate for these names, which signs itself and is valid for this long from now.
    pub(crate) fn make_pem(names: &[&str], lifetime: Duration) -> (String, String) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut parameters = CertificateParams::new(names).expect("names");
        let now = SystemTime::now();
        parameters.not_before = now.into();
        parameters.not_after = (now + lifetime).into();
        let key = KeyPair::generate().expect("a key");
        let certificate = parameters.self_signed(&key).expect("signed");
        (certificate.pem(), key.serialize_pem())
    }

    pub(crate) fn make_certificate(names: &[&str], lifetime: Duration) -> Certificate {
        let (chain, key) = make_pem(names, lifetime);
        Certificate::parse(chain.as_bytes(), key.as_bytes()).expect("it fits")
    }

    #[test]
    fn prod_020_names_and_times_of_a_certificate_are_read() {
        let month = Duration::from_secs(30 * 24 * 3600);
        let certificate = make_certificate(&["shop.example", "*.shop.example"], month);

        assert_eq!(certificate.names(), ["shop.example", "*.shop.example"]);
        assert!(certificate.lifetime().abs_diff(month) < Duration::from_secs(2));
        for (name, is_covered) in [
            ("shop.example", true),
            ("SHOP.example", true),
            ("www.shop.example", true),
            ("a.www.shop.example", false),
            ("other.example", false),
            ("", false),
        ] {
            assert_eq!(certificate.covers(name), is_covered, "{name}");
        }
        assert!((0.0..=1.0).contains(&certificate.fraction()));
    }

    #[test]
    fn prod_021_a_chain_is_trusted_by_whom_its_issuer_is_known_to() {
        let certificate = make_certificate(&["shop.example"], Duration::from_secs(600));
        let other = make_certificate(&["other.example"], Duration::from_secs(600));
        let trusting = |certificate: &Certificate| {
            let mut roots = RootCertStore::empty();
            roots.add(certificate.key.cert[0].clone()).expect("a root");
            roots
        };

        assert_eq!(certificate.find_distrust(trusting(&certificate)), None);
        let distrust = certificate
            .find_distrust(trusting(&other))
            .expect("it is refused");
        assert!(distrust.contains("does not trust its issuer, CN="), "{distrust}");
    }

    #[test]
    fn prod_021_a_key_of_another_certificate_is_refused() {
        let (chain, _) = make_pem(&["a.example"], Duration::from_secs(60));
        let (_, key) = make_pem(&["a.example"], Duration::from_secs(60));
        let parse = |chain: &str, key: &str| Certificate::parse(chain.as_bytes(), key.as_bytes());

        assert!(matches!(parse(&chain, &key), Err(CertificateError::Mismatch(_))));
        assert!(matches!(parse("", &key), Err(CertificateError::Chain(_))));
        assert!(matches!(parse(&chain, "none"), Err(CertificateError::Key(_))));
    }
}
