//! Configuration → identity providers, and the development identity provider that replaces some of them.
//!
//! It exists in [`Mode::Development`] only. In production every provider keeps its own URLs, whatever the configuration
//! says.

use secrecy::ExposeSecret;
use selvedge_auth::ProviderConfig;
use selvedge_config::{Config, Mode, ProviderSection};
use selvedge_database::instance;
use selvedge_dev_services::identity::{IdentitySettings, ProviderClient, provider_url};

/// File in the data folder with the invented people.
const PEOPLE_FILE: &str = "sign-in-people.json";

/// The client id of a provider without one. Auth sends it, and the development identity provider expects it.
const CLIENT_ID: &str = "dev";

/// The enabled providers, as auth calls them.
pub(in crate::services) fn provider_configs(config: &Config, mode: Mode) -> Vec<ProviderConfig> {
    let service_url = service_url(config);
    let sections = config.auth.external.iter();
    sections
        // A project that has no registration keeps its development provider out of production.
        .filter(|section| mode == Mode::Development || !section.is_for_development())
        .map(|section| {
            let provider = provider_config(section, &service_url);
            if mode == Mode::Development && is_answered(config, section) {
                answer_locally(config, provider)
            } else {
                provider
            }
        })
        .collect()
}

/// The URL of the auth service, as clients and providers reach it.
pub(in crate::services) fn service_url(config: &Config) -> String {
    let configured = config.auth.external_url.clone();
    configured.unwrap_or_else(|| format!("{}/auth/v1", config.api_url()))
}

/// An enabled provider. Without a `redirect_uri` it sends browsers back to `<auth url>/callback`.
fn provider_config(section: &ProviderSection, service_url: &str) -> ProviderConfig {
    let client_ids = section
        .client_id
        .split(',')
        .map(str::trim)
        .filter(|id| !id.is_empty());
    let non_empty = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    ProviderConfig {
        name: section.name.clone(),
        client_ids: client_ids.map(str::to_owned).collect(),
        secret: section.secret.clone().unwrap_or_default(),
        redirect_uri: non_empty(&section.redirect_uri).unwrap_or_else(|| format!("{service_url}/callback")),
        url: non_empty(&section.url),
        skip_nonce_check: section.skip_nonce_check,
        email_optional: section.email_optional,
        development_url: None,
    }
}

/// Whether the development identity provider answers in place of this provider.
fn is_answered(config: &Config, section: &ProviderSection) -> bool {
    let settings = &config.selvedge.dev_sign_in;
    settings.enabled && (section.lacks_credentials() || settings.providers.contains(&section.name))
}

fn answer_locally(config: &Config, mut provider: ProviderConfig) -> ProviderConfig {
    if provider.client_ids.is_empty() {
        provider.client_ids.push(CLIENT_ID.to_owned());
    }
    // There is no public Keycloak, so without `url` the development identity provider is used.
    if provider.name == "keycloak" && provider.url.is_none() {
        provider.url = Some(format!("https://keycloak.example/realms/{}", config.project.id));
    }
    let listener = instance::inbox_url(config.inbox.port);
    provider.development_url = Some(provider_url(&listener, &provider.name));
    provider
}

/// The settings of the development identity provider; `None` when it answers for no provider.
pub(crate) fn identity_settings(config: &Config) -> Option<IdentitySettings> {
    if !config.auth.enabled {
        return None;
    }
    let clients: Vec<ProviderClient> = provider_configs(config, Mode::Development)
        .into_iter()
        .filter(|provider| provider.development_url.is_some())
        .map(|provider| ProviderClient {
            secret: provider.secret.expose_secret().to_owned(),
            provider: provider.name,
            client_ids: provider.client_ids,
            redirect_uri: provider.redirect_uri,
            url: provider.url,
        })
        .collect();
    (!clients.is_empty()).then(|| IdentitySettings {
        listener_url: instance::inbox_url(config.inbox.port),
        project: config.project.id.clone(),
        clients,
        people_file: Some(config.selvedge.data_dir.join(PEOPLE_FILE)),
    })
}
