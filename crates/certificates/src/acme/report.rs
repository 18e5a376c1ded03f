//! What `selvedge doctor` says of a certificate: read from the folder, as another process serves it.

use std::path::Path;
use std::time::SystemTime;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::attempts::Attempts;
use super::store::read_certificate;

/// The state of a folder.
#[derive(Debug)]
pub struct Report {
    /// When the certificate expires; `None` without one.
    pub not_after: Option<SystemTime>,
    /// The directory of the authority that has issued it.
    pub directory: Option<String>,
    /// Its names.
    pub names: Vec<String>,
    /// Why clients refuse its chain that trust the authorities of this machine and those of `ca_file`.
    pub distrust: Option<String>,
    /// Attempts in a row by which no new one was obtained.
    pub failures: u32,
    /// Why the last of them has failed.
    pub error: Option<String>,
}

/// Reads the state of a folder. A `ca_file` that cannot be read adds no authorities: whoever obtains certificates reports it.
#[must_use]
pub fn read_report(folder: &Path, ca_file: Option<&Path>) -> Report {
    let kept = read_certificate(folder);
    let directory = kept.as_ref().and_then(|kept| kept.directory.clone());
    let certificate = kept.map(|kept| kept.certificate);
    let attempts = Attempts::read_any(folder);
    let roots = trusted_roots(ca_file);
    Report {
        not_after: certificate.as_ref().map(crate::Certificate::not_after),
        directory,
        distrust: certificate
            .as_ref()
            .and_then(|certificate| certificate.find_distrust(roots)),
        names: certificate.map_or_else(Vec::new, |certificate| certificate.names().to_vec()),
        failures: attempts.failures,
        error: attempts.error,
    }
}

/// The authorities that the authority itself is called with: the machine's, or Mozilla's where it has none, and those of a file.
fn trusted_roots(ca_file: Option<&Path>) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let own = ca_file.and_then(|path| CertificateDer::pem_file_iter(path).ok());
    roots.add_parsable_certificates(own.into_iter().flatten().flatten());
    roots
}
