//! Settings of the development identity provider, from the project's configuration.

use std::path::PathBuf;

/// Path of the development identity provider on its listener.
pub(super) const ROOT: &str = "/sign-in";

/// The URL below which a provider is answered: the auth service calls `https://host/path` as `<this>/host/path`.
#[must_use]
pub fn provider_url(listener_url: &str, provider: &str) -> String {
    format!("{}{ROOT}/{provider}", listener_url.trim_end_matches('/'))
}

/// All providers that are answered, and what their pages say about the project.
#[derive(Debug, Clone)]
pub struct IdentitySettings {
    /// URL of the listener, such as `http://127.0.0.1:54324`.
    pub listener_url: String,
    /// Name of the project, as the pages show it.
    pub project: String,
    /// The providers that are answered here.
    pub clients: Vec<ProviderClient>,
    /// File that keeps the invented people between two starts; `None` keeps them in memory only.
    pub people_file: Option<PathBuf>,
}

/// A provider with the project's registration at it.
#[derive(Debug, Clone)]
pub struct ProviderClient {
    /// Name of the provider, such as `google`.
    pub provider: String,
    /// The project's client ids; requests with any other are refused.
    pub client_ids: Vec<String>,
    /// The client secret; an empty one is not asked for.
    pub secret: String,
    /// The registered callback URL, the only one that browsers are sent back to.
    pub redirect_uri: String,
    /// `url` of the provider's section: the base URL of a self-hosted provider, or an issuer.
    pub url: Option<String>,
}
