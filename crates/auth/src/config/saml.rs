//! Sign-in by SAML (`[auth.saml]`).

use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use selvedge_saml::{PrivateKey, ServiceProvider, ServiceProviderOptions, SignaturePolicy};
use url::Url;

/// What an operator sets.
#[derive(Debug, Clone)]
pub struct SamlSettings {
    /// The RSA key of this service: PKCS#1 DER in Base64.
    pub private_key: SecretString,
    /// The key that will be used next. Identity providers learn its certificate from the metadata before it is used.
    pub private_key_next: Option<SecretString>,
    /// Whether identity providers may encrypt assertions.
    pub allow_encrypted_assertions: bool,
    /// Whether signatures by RSA with SHA-1 count, for providers that cannot do better.
    pub allow_sha1: bool,
    /// How long a user may take to sign in at the provider.
    pub relay_state_validity: Duration,
    /// URL that entity ID and endpoints begin with; `None` for the service's own.
    pub external_url: Option<String>,
}

/// Sign-in by SAML, ready for use.
#[derive(Debug, Clone)]
pub struct SamlConfig {
    pub(crate) service: Arc<ServiceProvider>,
    pub(crate) relay_state_validity: Duration,
}

impl SamlConfig {
    /// Reads the keys. `service_url` is the URL of this service; the certificate names its host.
    ///
    /// # Errors
    /// A message for the operator, which names the key and does not quote it.
    pub fn new(settings: &SamlSettings, service_url: &str) -> Result<Self, String> {
        let read = |name: &str, key: &SecretString| {
            PrivateKey::from_base64(key.expose_secret()).map_err(|error| format!("{name}: {error}"))
        };
        let next = settings.private_key_next.as_ref();
        let host = Url::parse(service_url).ok();
        let host = host
            .as_ref()
            .and_then(Url::host_str)
            .unwrap_or_default()
            .to_owned();
        let service = ServiceProvider::new(ServiceProviderOptions {
            external_url: settings.external_url.as_deref().unwrap_or(service_url).to_owned(),
            certificate_host: host,
            key: read("private_key", &settings.private_key)?,
            next_key: next.map(|key| read("private_key_next", key)).transpose()?,
            allow_encrypted: settings.allow_encrypted_assertions,
            policy: SignaturePolicy {
                allow_sha1: settings.allow_sha1,
            },
        });
        Ok(Self {
            service: Arc::new(service),
            relay_state_validity: settings.relay_state_validity,
        })
    }
}
