//! The state of the development identity provider, shared by all requests.

use std::sync::OnceLock;

use selvedge_token::{KeyAlgorithm, KeyRing, generate_jwt_secret, generate_signing_key};

use super::grants::{Grant, Grants};
use super::people::People;
use super::person::Person;
use super::provider::{Account, Provider};
use super::providers::find_provider;
use super::settings::{IdentitySettings, ProviderClient, ROOT, provider_url};

/// Settings, people, open sign-ins and the key of ID tokens.
pub struct IdentityState {
    pub(super) settings: IdentitySettings,
    pub(super) people: People,
    pub(super) grants: Grants,
    keys: OnceLock<KeyRing>,
}

impl IdentityState {
    /// Reads the people of earlier starts.
    #[must_use]
    pub fn new(settings: IdentitySettings) -> Self {
        Self {
            people: People::load(settings.people_file.clone()),
            settings,
            grants: Grants::default(),
            keys: OnceLock::new(),
        }
    }

    /// The project's registration at a provider; `None` for a provider that is not answered here.
    pub(super) fn find_client(&self, provider: &str) -> Option<(&'static Provider, &ProviderClient)> {
        let known = find_provider(provider)?;
        let client = self
            .settings
            .clients
            .iter()
            .find(|client| client.provider == provider)?;
        Some((known, client))
    }

    /// The key of ID tokens: RSA, because all providers that are answered here sign with RS256. It is generated for the
    /// first sign-in page, as that takes a noticeable part of a second.
    pub(super) fn keys(&self) -> &KeyRing {
        self.keys.get_or_init(|| {
            let key = generate_signing_key(KeyAlgorithm::Rs256);
            KeyRing::new(generate_jwt_secret().as_bytes(), &[key])
                .expect("a key that was just generated is valid")
        })
    }

    /// The URL of a person's picture: their own, or a drawn one with their initials.
    pub(super) fn picture_url(&self, person: &Person) -> String {
        person.picture.clone().unwrap_or_else(|| {
            let listener = self.settings.listener_url.trim_end_matches('/');
            format!("{listener}{ROOT}/pictures/{}.svg", person.id)
        })
    }

    /// The person of a grant as the provider's functions read them.
    pub(super) fn describe_account<'a>(&self, grant: &'a Grant) -> Account<'a> {
        Account {
            person: &grant.person,
            subject: &grant.subject,
            picture: self.picture_url(&grant.person),
            client_id: &grant.request.client_id,
            params: &grant.request.params,
            issued_at: grant.issued_at,
        }
    }

    /// The URL below which a provider is answered.
    pub(super) fn provider_url(&self, provider: &str) -> String {
        provider_url(&self.settings.listener_url, provider)
    }
}
