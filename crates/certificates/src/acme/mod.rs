//! Certificates by ACME: an account, orders, challenges, and when to renew.

mod account;
mod attempts;
mod certificates;
mod challenges;
mod http;
mod order;
mod report;
mod resolver;
mod schedule;
mod store;

use std::path::PathBuf;

use secrecy::SecretString;

pub use certificates::AcmeCertificates;
pub use challenges::Challenges;
pub use report::{Report, read_report};

/// What certificates are obtained for, and from whom.
#[derive(Debug, Clone)]
pub struct AcmeSettings {
    /// The names in the certificate; the first is the server's own.
    pub domains: Vec<String>,
    /// Where the certificate authority writes to.
    pub email: Option<String>,
    /// The URL of its directory.
    pub directory: String,
    /// A file of root certificates (PEM) that requests to the authority trust, besides those of the machine.
    pub ca_file: Option<PathBuf>,
    /// An account that the operator has at the authority already (External Account Binding), which some authorities require.
    pub external_account: Option<ExternalAccount>,
    /// The folder of the account and the certificate, made with rights for its owner alone.
    pub folder: PathBuf,
}

/// External Account Binding (RFC 8555 §7.3.4).
#[derive(Debug, Clone)]
pub struct ExternalAccount {
    /// Its id.
    pub key_id: String,
    /// Its key, base64url.
    pub key: SecretString,
}

/// Why no certificate was obtained.
#[derive(Debug, thiserror::Error)]
pub enum AcmeError {
    /// The authority refuses, or cannot be reached.
    #[error("{0}")]
    Protocol(#[from] instant_acme::Error),
    /// It has tried to prove the domains, and could not.
    #[error("the domains could not be proven: {0}")]
    NotProven(String),
    /// It offers no challenge that this server can answer.
    #[error("the authority offers neither HTTP-01 nor TLS-ALPN-01 for {0}")]
    NoChallenge(String),
    /// The attempt has begun, and nothing more is known of it.
    #[error("the server has ended in the middle of the attempt")]
    Unfinished,
    /// What was issued asks to be renewed at once: the clock of this machine is wrong, or the authority leaves a domain out.
    #[error(
        "the new certificate is due already: the clock of this machine may be wrong, or it is not for all domains"
    )]
    StillDue,
    /// It takes too long.
    #[error("the authority has not answered within {0} minutes")]
    Slow(u64),
    /// What it has issued is no certificate for this key.
    #[error("the certificate cannot be used: {0}")]
    Certificate(#[from] crate::CertificateError),
    /// A key or a request for a certificate could not be made.
    #[error("cannot make a key: {0}")]
    Key(#[from] rcgen::Error),
    /// The key of the external account is not base64.
    #[error("eab_hmac_key is not base64url")]
    ExternalKey,
    /// A file could not be read or written.
    #[error("cannot use {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The settings of TLS cannot be made.
    #[error("{0}")]
    Tls(#[from] rustls::Error),
}

impl AcmeError {
    /// The kind of a problem that the authority names, such as `rateLimited`.
    fn problem_kind(&self) -> Option<&str> {
        match self {
            Self::Protocol(instant_acme::Error::Api(problem)) => problem
                .r#type
                .as_deref()?
                .strip_prefix("urn:ietf:params:acme:error:"),
            _ => None,
        }
    }
}
