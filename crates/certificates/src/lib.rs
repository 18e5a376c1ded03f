//! TLS certificates of the server: obtained and renewed by ACME (RFC 8555), or read from files and read again when these change.
//!
//! In: the domains and where the certificate authority is, or two PEM files; a folder for the account, the certificate and what became of
//! attempts. Out: settings of rustls whose certificate changes while connections go on, answers to challenges, metrics, and a report for
//! `selvedge doctor`. The crate opens no port: who listens serves the answers of [`Challenges`] on port 80 and accepts TLS with the settings.

mod acme;
mod certificate;
mod metrics;
mod own_files;
mod server_config;

pub use acme::{AcmeCertificates, AcmeError, AcmeSettings, Challenges, ExternalAccount, Report, read_report};
pub use certificate::{Certificate, CertificateError};
pub use own_files::{OwnCertificate, OwnFilesError, ReadFile};
pub use server_config::ACME_PROTOCOL;
