//! `[auth.saml]`: single sign-on by SAML. The CLI has no such table; the keys are called as the variables of the original's
//! auth service, which count here, too (`GOTRUE_SAML_PRIVATE_KEY` and so on).

use std::time::Duration;

use secrecy::SecretString;

use crate::reader::section::Section;

/// `[auth.saml]`.
#[derive(Debug, Clone)]
pub struct SamlSection {
    /// Whether users may sign in by SAML. Default false.
    pub enabled: bool,
    /// The RSA key of this service, PKCS#1 DER in Base64, of 2048, 3072 or 4096 bit. Needed when `enabled`.
    pub private_key: Option<SecretString>,
    /// The key that will be used next. Default: none.
    pub private_key_next: Option<SecretString>,
    /// Whether assertions may be encrypted. Default false.
    pub allow_encrypted_assertions: bool,
    /// Whether signatures with SHA-1 are accepted. Default false.
    pub allow_sha1: bool,
    /// How long a user may take to sign in at the identity provider. Default 2 minutes.
    pub relay_state_validity_period: Duration,
    /// URL that entity ID and endpoints begin with. Default: the auth service's own URL.
    pub external_url: Option<String>,
    /// Responses per five minutes and client address. Default 15.
    pub rate_limit_assertion: u32,
}

/// Used for the validity period that is 0, as in the original.
const DEFAULT_VALIDITY: Duration = Duration::from_secs(120);

impl SamlSection {
    pub(super) fn read(section: &Section<'_>) -> Self {
        let validity = section.duration("relay_state_validity_period", DEFAULT_VALIDITY);
        let read = Self {
            enabled: section.is_enabled(false),
            private_key: section.optional_secret("private_key"),
            private_key_next: section.optional_secret("private_key_next"),
            allow_encrypted_assertions: section.bool("allow_encrypted_assertions", false),
            allow_sha1: section.bool("allow_sha1", false),
            relay_state_validity_period: if validity.is_zero() {
                DEFAULT_VALIDITY
            } else {
                validity
            },
            external_url: section.optional_string("external_url"),
            rate_limit_assertion: section.integer("rate_limit_assertion", 15, 0..=u32::MAX),
        };
        // Without a key neither requests nor the metadata's certificate could be made.
        if read.enabled && read.private_key.is_none() {
            section.report_error("private_key", "is needed when auth.saml is enabled");
        }
        read
    }
}
