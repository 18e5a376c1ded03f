//! This service as a SAML service provider: its names and keys, its metadata, and its requests for sign-in.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, TimeDelta, Utc};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rand::RngExt;

use crate::crypto::PrivateKey;
use crate::names::{
    ASSERTION_NS, ENCRYPTION_NS, METADATA_NS, POST_BINDING, PROTOCOL_NS, RSA_OAEP, RSA_SHA256, SIGNATURE_NS,
    name_id_format,
};
use crate::signature::SignaturePolicy;
use crate::time::write_time;

/// Characters that are not percent-encoded in a query parameter; `+` and `/` of Base64 are.
const QUERY_VALUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');
/// How long the metadata of [`ServiceProvider::metadata`] may be used.
const METADATA_VALIDITY: TimeDelta = TimeDelta::hours(48);
/// How long it may be used when an administrator downloads it to install it by hand.
const DOWNLOAD_VALIDITY: TimeDelta = TimeDelta::days(5 * 365);

/// Settings of the service provider.
#[derive(Debug)]
pub struct ServiceProviderOptions {
    /// URL of the service without a trailing slash; entity ID and endpoints start with it.
    pub external_url: String,
    /// Host in the certificate.
    pub certificate_host: String,
    /// The key in use.
    pub key: PrivateKey,
    /// The key that will be used next, so that identity providers can learn about it before.
    pub next_key: Option<PrivateKey>,
    /// Whether assertions may be encrypted.
    pub allow_encrypted: bool,
    /// Which signature algorithms are accepted.
    pub policy: SignaturePolicy,
}

/// This service as a SAML service provider.
#[derive(Debug)]
pub struct ServiceProvider {
    /// The entity id, by which identity providers know the service.
    pub entity_id: String,
    /// URL of the assertion consumer service, to which browsers post the responses of identity providers.
    pub acs_url: String,
    pub(crate) options: ServiceProviderOptions,
}

impl ServiceProvider {
    /// The service provider with these settings.
    #[must_use]
    pub fn new(options: ServiceProviderOptions) -> Self {
        let base = options.external_url.trim_end_matches('/');
        Self {
            entity_id: format!("{base}/sso/saml/metadata"),
            acs_url: format!("{base}/sso/saml/acs"),
            options,
        }
    }

    /// Keys that may open an encrypted assertion; none when assertions must not be encrypted.
    pub(crate) fn decryption_keys(&self) -> Vec<&PrivateKey> {
        if !self.options.allow_encrypted {
            return Vec::new();
        }
        std::iter::once(&self.options.key)
            .chain(&self.options.next_key)
            .collect()
    }

    /// Whether a next key is announced.
    #[must_use]
    pub fn has_next_key(&self) -> bool {
        self.options.next_key.is_some()
    }

    fn key_descriptor(&self, usage: &str, key: &PrivateKey, methods: &[&str]) -> String {
        let certificate = key.certificate(&self.options.certificate_host, self.options.allow_encrypted);
        let methods: String = methods
            .iter()
            .map(|method| format!("<md:EncryptionMethod Algorithm=\"{method}\"/>"))
            .collect();
        format!(
            "<md:KeyDescriptor use=\"{usage}\"><ds:KeyInfo xmlns:ds=\"{SIGNATURE_NS}\"><ds:X509Data><ds:X509Certificate>\
             {}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>{methods}</md:KeyDescriptor>",
            STANDARD.encode(certificate)
        )
    }

    fn key_descriptors(&self) -> String {
        let options = &self.options;
        let ciphers = ["aes128-cbc", "aes192-cbc", "aes256-cbc"].map(|name| format!("{ENCRYPTION_NS}{name}"));
        let methods: Vec<&str> = ciphers.iter().map(String::as_str).chain([RSA_OAEP]).collect();
        // Compat: the order of the descriptors is the original's, which some identity providers rely on.
        let mut keys = String::new();
        if options.allow_encrypted {
            keys += &self.key_descriptor("encryption", &options.key, &methods);
        }
        keys += &self.key_descriptor("signing", &options.key, &[]);
        if let Some(next) = &options.next_key {
            keys += &self.key_descriptor("signing", next, &[]);
            if options.allow_encrypted {
                keys += &self.key_descriptor("encryption", next, &[]);
            }
        }
        keys
    }

    /// The metadata document. `is_download` is for administrators who install it by hand, and makes it valid for years.
    ///
    /// Services for single logout and artifacts are left out, because there are none.
    #[must_use]
    pub fn metadata(&self, now: DateTime<Utc>, is_download: bool) -> String {
        let until = write_time(now + METADATA_VALIDITY);
        let entity_until = if is_download {
            write_time(now + DOWNLOAD_VALIDITY)
        } else {
            until.clone()
        };
        let cache = if self.has_next_key() {
            " cacheDuration=\"PT1H\""
        } else {
            ""
        };
        format!(
            "<md:EntityDescriptor xmlns:md=\"{METADATA_NS}\" validUntil=\"{entity_until}\"{cache} entityID=\"{entity}\">\
             <md:SPSSODescriptor validUntil=\"{until}\" protocolSupportEnumeration=\"{PROTOCOL_NS}\" \
             WantAssertionsSigned=\"true\">{keys}\
             <md:NameIDFormat>{email}</md:NameIDFormat><md:NameIDFormat>{persistent}</md:NameIDFormat>\
             <md:AssertionConsumerService Binding=\"{POST_BINDING}\" Location=\"{acs}\" index=\"1\"/>\
             </md:SPSSODescriptor></md:EntityDescriptor>",
            entity = escape(&self.entity_id),
            keys = self.key_descriptors(),
            email = name_id_format::EMAIL_ADDRESS,
            persistent = name_id_format::PERSISTENT,
            acs = escape(&self.acs_url),
        )
    }

    /// The URL that takes a browser to the identity provider at `location`, with a signed request (SAML 2.0 Bindings
    /// §3.4). `name_id_format` is the kind of name that the provider shall use for users.
    #[must_use]
    pub fn sign_in_url(
        &self,
        location: &str,
        request_id: &str,
        relay_state: &str,
        name_id_format: &str,
        now: DateTime<Utc>,
    ) -> String {
        let request = format!(
            "<samlp:AuthnRequest xmlns:saml=\"{ASSERTION_NS}\" xmlns:samlp=\"{PROTOCOL_NS}\" ID=\"{request_id}\" \
             Version=\"2.0\" IssueInstant=\"{now}\" Destination=\"{destination}\" AssertionConsumerServiceURL=\"{acs}\" \
             ProtocolBinding=\"{POST_BINDING}\">\
             <saml:Issuer Format=\"urn:oasis:names:tc:SAML:2.0:nameid-format:entity\">{entity}</saml:Issuer>\
             <samlp:NameIDPolicy Format=\"{format}\" AllowCreate=\"true\"/></samlp:AuthnRequest>",
            now = write_time(now),
            destination = escape(location),
            acs = escape(&self.acs_url),
            entity = escape(&self.entity_id),
            format = escape(name_id_format),
        );
        let encode = |value: &str| utf8_percent_encode(value, QUERY_VALUE).to_string();
        let signed = format!(
            "SAMLRequest={}&RelayState={}&SigAlg={}",
            encode(&STANDARD.encode(deflate(request.as_bytes()))),
            encode(relay_state),
            encode(RSA_SHA256)
        );
        let signature = encode(&STANDARD.encode(self.options.key.sign(signed.as_bytes())));
        // A fragment would swallow the parameters; a query of the location stays in front of them.
        let location = location.split('#').next().unwrap_or_default();
        let separator = if location.contains('?') { '&' } else { '?' };
        format!("{location}{separator}{signed}&Signature={signature}")
    }
}

/// A new id of a request: random, and a valid XML name.
#[must_use]
pub fn generate_request_id() -> String {
    let bytes: [u8; 20] = rand::rng().random();
    format!("id-{}", hex::encode(bytes))
}

/// Compresses by raw DEFLATE, as the HTTP-Redirect binding requires.
fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("writing into memory does not fail")
}

/// Text for an attribute in double quotes, or between tags.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
