//! The state of the development identity provider, shared by all requests.

use std::sync::OnceLock;

use actix_web::web;
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
    /// first sign-in page. That takes a noticeable part of a second, and seconds in a debug build, so that requests call
    /// [`prepare_keys`] first.
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

/// Waits until the key of ID tokens is generated, on a thread that may be blocked: the listener, which also serves the inbox, has one
/// worker and would answer nobody meanwhile.
pub(super) async fn prepare_keys(state: &web::Data<IdentityState>) {
    if state.keys.get().is_some() {
        return;
    }
    let state = state.clone();
    // An error means that the server is shutting down; a request that is still answered generates the key itself.
    let _ = web::block(move || {
        state.keys();
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use actix_web::App;
    use actix_web::dev::Service;
    use actix_web::test::{TestRequest, init_service};

    use super::*;
    use crate::identity::configure;

    #[actix_web::test]
    async fn other_requests_are_answered_while_the_key_is_generated() {
        let state = web::Data::new(IdentityState::new(IdentitySettings {
            listener_url: "http://127.0.0.1:54324".to_owned(),
            project: "test".to_owned(),
            clients: vec![ProviderClient {
                provider: "google".to_owned(),
                client_ids: vec!["dev".to_owned()],
                secret: String::new(),
                redirect_uri: "http://127.0.0.1:54321/auth/v1/callback".to_owned(),
                url: None,
            }],
            people_file: None,
        }));
        let app = init_service(App::new().configure(configure(state))).await;
        let answered = RefCell::new(Vec::new());
        let call = async |path: &'static str| {
            let response = app
                .call(TestRequest::get().uri(path).to_request())
                .await
                .expect("answers");
            answered.borrow_mut().push((path, response.status().as_u16()));
        };

        let keys = "/sign-in/google/accounts.google.com/selvedge/keys";
        tokio::join!(call(keys), call("/sign-in"));

        assert_eq!(*answered.borrow(), [("/sign-in", 200), (keys, 200)]);
    }
}
