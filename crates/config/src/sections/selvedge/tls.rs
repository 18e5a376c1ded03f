//! `[selvedge.tls]`: certificates that `serve` obtains and renews by itself.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use crate::project::Project;
use crate::reader::section::Section;

/// Let's Encrypt.
const DIRECTORY: &str = "https://acme-v02.api.letsencrypt.org/directory";
/// The longest name in a certificate (RFC 5280: the length of a domain name).
const LONGEST_DOMAIN: usize = 253;
/// Most names in a certificate; Let's Encrypt's limit.
const MOST_DOMAINS: usize = 100;

/// `[selvedge.tls]`.
#[derive(Debug, Clone)]
pub struct TlsSection {
    /// The domains of the server; the first one is its own address unless `[api] external_url` is set. Default: none, no certificate is obtained.
    pub domains: Vec<String>,
    /// The address to which the certificate authority writes. Default: none.
    pub email: Option<String>,
    /// The port that answers challenges and leads everybody else to HTTPS. Default 80.
    pub http_port: u16,
    /// The port of HTTPS. Default 443.
    pub https_port: u16,
    /// The directory of the certificate authority. Default: Let's Encrypt's.
    pub directory: String,
    /// PEM certificates that sign the authority's own, relative to the project. Default: those that the machine trusts.
    pub ca_file: Option<PathBuf>,
    /// The account at an authority that asks for one (External Account Binding). Default: none.
    pub eab_key_id: Option<String>,
    /// Its key, base64url.
    pub eab_hmac_key: Option<SecretString>,
    /// For how long browsers use HTTPS only (`Strict-Transport-Security`). Default: 0s, not sent.
    pub hsts: Duration,
}

impl TlsSection {
    /// `None` without `domains`, as the other keys are then meaningless. `has_files` says that `[api.tls]` names a certificate.
    pub(super) fn read(section: &Section<'_>, project: &Project, has_files: bool) -> Option<Self> {
        let domains = section.strings("domains", &[]);
        let found = Self {
            domains: domains.iter().map(|domain| domain.to_ascii_lowercase()).collect(),
            email: section.optional_string("email"),
            http_port: section.port("http_port", 80),
            https_port: section.port("https_port", 443),
            directory: section.string("directory", DIRECTORY),
            ca_file: section.optional_path("ca_file", &project.folder),
            eab_key_id: section.optional_string("eab_key_id"),
            eab_hmac_key: section.optional_secret("eab_hmac_key"),
            hsts: section.duration("hsts", Duration::ZERO),
        };
        if found.domains.is_empty() {
            return None;
        }
        if has_files {
            section.report_error(
                "domains",
                "excludes [api.tls], which names a certificate of your own",
            );
        }
        if let Some(domain) = found.domains.iter().find(|domain| !is_domain(domain)) {
            let reason = format!(
                "holds {domain:?}, which is no domain such as shop.example.com (wildcards cannot be proven here)"
            );
            section.report_error("domains", &reason);
        }
        if found.domains.len() > MOST_DOMAINS {
            section.report_error("domains", &format!("may hold {MOST_DOMAINS} domains"));
        }
        if !found.directory.starts_with("https://") {
            section.report_error("directory", "must be an https address");
        }
        if found.eab_key_id.is_some() != found.eab_hmac_key.is_some() {
            section.report_error("eab_key_id", "belongs to eab_hmac_key: set both or none");
        }
        if found.http_port == found.https_port {
            section.report_error("http_port", "must be another port than https_port");
        }
        Some(found)
    }

    /// The server's own address.
    pub fn url(&self) -> String {
        let domain = self.domains.first().map_or("", String::as_str);
        match self.https_port {
            443 => format!("https://{domain}"),
            port => format!("https://{domain}:{port}"),
        }
    }
}

/// Whether a text is a name that a certificate can be for: labels of letters, digits and hyphens, and no address.
fn is_domain(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
    text.len() <= LONGEST_DOMAIN
        && text.contains('.')
        && text.split('.').all(is_label)
        && !text.rsplit('.').next().is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_020_a_domain_is_a_name_with_a_dot() {
        for (text, expected) in [
            ("shop.example.com", true),
            ("xn--caf-dma.example", true),
            ("localhost", false),
            ("*.example.com", false),
            ("127.0.0.1", false),
            ("a..example", false),
            ("-a.example", false),
            ("a/b.example", false),
            ("shop.example.com:443", false),
            ("", false),
        ] {
            assert_eq!(is_domain(text), expected, "{text}");
        }
    }
}
