//! What `selvedge doctor` says of a certificate: read from the folder, as another process serves it.

use std::path::Path;
use std::time::SystemTime;

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
    /// Attempts in a row by which no new one was obtained.
    pub failures: u32,
    /// Why the last of them has failed.
    pub error: Option<String>,
}

/// Reads the state of a folder.
#[must_use]
pub fn read_report(folder: &Path) -> Report {
    let kept = read_certificate(folder);
    let directory = kept.as_ref().and_then(|kept| kept.directory.clone());
    let certificate = kept.map(|kept| kept.certificate);
    let attempts = Attempts::read_any(folder);
    Report {
        not_after: certificate.as_ref().map(crate::Certificate::not_after),
        directory,
        names: certificate.map_or_else(Vec::new, |certificate| certificate.names().to_vec()),
        failures: attempts.failures,
        error: attempts.error,
    }
}
