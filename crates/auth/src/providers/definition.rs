//! What is fixed about a provider before a project adds its credentials: endpoints, scopes, and the source of the
//! profile.
//!
//! Source: Auth contract §8.1.

use serde_json::{Map, Value};

use super::addresses::Addresses;
use super::issuer::Issuer;
use super::profile::Profile;
use super::profile_api::ProfileApi;
use crate::error::ProviderError;

/// A built-in provider; each file of [`super::named`] has one constant of this type per provider.
pub(super) struct NamedProvider {
    /// The name in `[auth.external.<name>]` of `config.toml` and in `provider=` of `/authorize`.
    pub(super) name: &'static str,
    /// Builds the definition. The argument is `url` of the project's configuration without a trailing slash: the base
    /// URL of a self-hosted provider, or an issuer that replaces Google's or Apple's. `None` when the provider needs
    /// `url` and it is missing.
    pub(super) define: fn(Option<&str>) -> Option<Definition>,
    /// Chooses how an ID token that a client presents (`grant_type=id_token`) is checked.
    pub(super) id_token_rules: FindIdTokenRules,
}

/// Chooses the rules for an ID token. Arguments: `url` of the configuration, and the token. `None` when the provider
/// has no ID tokens.
pub(super) type FindIdTokenRules = fn(Option<&str>, &str) -> Option<Result<IdTokenRules, ProviderError>>;

/// `id_token_rules` of providers that issue no ID tokens.
pub(super) const NO_ID_TOKENS: FindIdTokenRules = |_, _| None;

/// How the browser is sent to one provider, and how the user who comes back is identified.
#[derive(Debug, Clone)]
pub(super) struct Definition {
    pub(super) endpoints: Endpoints,
    pub(super) profile_source: ProfileSource,
    /// Scopes that every authorization request asks for.
    pub(super) scopes: Vec<String>,
    /// Whether `scopes` of the query of `/authorize` are added to them.
    pub(super) accepts_scopes: bool,
    /// Whether our own request to the provider carries a PKCE challenge; independent of the client's PKCE towards this
    /// server.
    pub(super) uses_pkce: bool,
    /// Whether the client secret is sent only in the form, because the provider rejects it in the Authorization header.
    pub(super) secret_in_form: bool,
    /// Further parameters of the authorization request.
    pub(super) params: Vec<(String, String)>,
}

/// Where the provider's endpoints are.
#[derive(Debug, Clone)]
pub(super) enum Endpoints {
    /// Endpoints that are known without discovery.
    Fixed { authorize: String, token: String },
    /// Read from the issuer's discovery document.
    Discovered(Issuer),
    /// OAuth 1.0a: paths below this URL.
    OAuth1 { api: String },
}

/// Where the profile of the signed-in user comes from.
#[derive(Debug, Clone)]
pub(super) enum ProfileSource {
    /// The claims of the ID token. When the token response has none: `fallback`, or else the userinfo endpoint of the
    /// issuer's discovery document.
    IdToken {
        rules: IdTokenRules,
        fallback: Option<ProfileApi>,
    },
    /// An ID token whose issuer depends on the user's tenant: `rules` takes `url` and the token.
    TenantIdToken {
        url: String,
        rules: fn(&str, &str) -> Result<IdTokenRules, ProviderError>,
    },
    /// The claims of an OpenID Connect userinfo endpoint (custom providers of type `oauth2`).
    UserInfo { url: String },
    /// The provider's own API.
    Api(ProfileApi),
    /// `account/verify_credentials` of OAuth 1.0a, below this URL.
    OAuth1 { api: String },
}

/// Converts the claims of an ID token into a profile. Providers differ in names, and in what they say about the
/// address.
pub(super) type ReadClaims = fn(&Map<String, Value>) -> Profile;

/// Who issues a provider's ID tokens and how their claims are read.
#[derive(Debug, Clone)]
pub(crate) struct IdTokenRules {
    pub(crate) issuer: Issuer,
    /// Further spellings of the issuer that its tokens may have in `iss`.
    pub(crate) aliases: &'static [&'static str],
    pub(super) read_claims: ReadClaims,
    /// Whether the tokens can carry the hash of a nonce. Facebook's cannot, so no nonce is compared for them.
    pub(crate) has_nonce: bool,
}

impl IdTokenRules {
    /// Creates an issuer without aliases.
    pub(super) fn new(issuer: Issuer, read_claims: ReadClaims) -> Self {
        Self {
            issuer,
            aliases: &[],
            read_claims,
            has_nonce: true,
        }
    }

    /// The same rules with the issuer's documents fetched from these addresses.
    pub(super) fn at_addresses(&self, addresses: Addresses<'_>) -> Self {
        Self {
            issuer: addresses.resolve_issuer(&self.issuer),
            ..self.clone()
        }
    }

    /// Whether this is the issuer, under its name or an alias.
    pub(crate) fn is_issuer(&self, name: &str) -> bool {
        self.issuer.name == name || self.aliases.contains(&name)
    }
}

impl Definition {
    /// A provider with fixed endpoints and without ID tokens: its own API returns the profile.
    pub(super) fn with_api(authorize: String, token: String, api: ProfileApi, scopes: &[&str]) -> Self {
        Self::new(
            Endpoints::Fixed { authorize, token },
            ProfileSource::Api(api),
            scopes,
        )
    }

    /// An OpenID Connect provider with a discovery document.
    pub(super) fn discovered(rules: IdTokenRules, scopes: &[&str]) -> Self {
        Self::new(
            Endpoints::Discovered(rules.issuer.clone()),
            ProfileSource::IdToken {
                rules,
                fallback: None,
            },
            scopes,
        )
    }

    /// The common case: scopes of the request are added, no PKCE, the secret is tried in the header first, no further
    /// parameters.
    pub(super) fn new(endpoints: Endpoints, profile_source: ProfileSource, scopes: &[&str]) -> Self {
        Self {
            endpoints,
            profile_source,
            scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
            accepts_scopes: true,
            uses_pkce: false,
            secret_in_form: false,
            params: Vec::new(),
        }
    }
}

/// `url` of the project's configuration, or else the provider's public URL.
pub(super) fn choose_base_url(url: Option<&str>, default: &str) -> String {
    url.unwrap_or(default).to_owned()
}
