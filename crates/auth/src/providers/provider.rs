//! A provider together with a project's credentials. Created for each request, because custom providers change while
//! the server runs.

use super::addresses::Addresses;
use super::attribute_mapping::AttributeMapping;
use super::definition::{Definition, Endpoints, IdTokenRules, ProfileSource};
use super::id_token::read_standard_claims;
use super::issuer::Issuer;
use super::named;
use crate::config::ProviderConfig;
use crate::error::ProviderError;
use crate::store::custom_providers::CustomProvider;

/// A provider that can be called: [`super::authorize`] and [`super::sign_in`] have its methods.
#[derive(Debug, Clone)]
pub(crate) struct Provider {
    /// Our client ids and secret at the provider, and the callback URL that it knows.
    pub(super) client: ProviderConfig,
    pub(super) definition: Definition,
    /// `Some` for custom providers only; other files of this folder recognise a custom provider by it.
    pub(super) mapping: Option<AttributeMapping>,
}

impl Provider {
    /// A built-in provider of the project's configuration; `None` when a required setting is missing (Keycloak's
    /// `url`).
    pub(crate) fn from_config(config: &ProviderConfig) -> Option<Self> {
        Some(Self {
            client: config.clone(),
            definition: named::find_definition(&config.name, config.url.as_deref())?,
            mapping: None,
        })
    }

    /// A provider that an administrator has added; `None` when its row lacks a column that its type needs.
    pub(crate) fn from_custom(custom: &CustomProvider, redirect_uri: String) -> Option<Self> {
        let (endpoints, profile_source) = find_custom_endpoints(custom)?;
        // The first id is ours in the web flow; ID tokens may name any of them as their audience.
        let mut client_ids = vec![custom.client_id.clone()];
        client_ids.extend(custom.acceptable_client_ids.iter().cloned());
        let params = custom.authorization_params.as_object().into_iter().flatten();
        Some(Self {
            client: ProviderConfig {
                name: custom.identifier.clone(),
                client_ids,
                secret: custom.client_secret.clone().into(),
                redirect_uri,
                url: None,
                skip_nonce_check: custom.skip_nonce_check,
                email_optional: custom.email_optional,
                development_url: None,
            },
            definition: Definition {
                scopes: custom.scopes.clone(),
                uses_pkce: custom.pkce_enabled,
                params: params
                    // Values other than strings are rejected when the provider is saved.
                    .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                    .collect(),
                ..Definition::new(endpoints, profile_source, &[])
            },
            mapping: Some(AttributeMapping::from_custom(custom)),
        })
    }

    /// Where the provider's URLs are called.
    pub(super) fn addresses(&self) -> Addresses<'_> {
        Addresses::from_config(&self.client)
    }

    /// Whether a sign-in continues when the provider returns no address.
    pub(crate) fn is_email_optional(&self) -> bool {
        self.client.email_optional
    }

    /// Whether our request to the provider carries a PKCE challenge.
    pub(crate) fn uses_pkce(&self) -> bool {
        self.definition.uses_pkce
    }
}

/// Endpoints and profile source of a custom provider: discovered for `oidc`, read from columns for `oauth2`.
fn find_custom_endpoints(custom: &CustomProvider) -> Option<(Endpoints, ProfileSource)> {
    if custom.is_oidc() {
        let issuer = Issuer::from_custom(custom)?;
        let rules = IdTokenRules::new(issuer.clone(), read_standard_claims);
        let source = ProfileSource::IdToken {
            rules,
            fallback: None,
        };
        return Some((Endpoints::Discovered(issuer), source));
    }
    let endpoints = Endpoints::Fixed {
        authorize: custom.authorization_url.clone()?,
        token: custom.token_url.clone()?,
    };
    let source = ProfileSource::UserInfo {
        url: custom.userinfo_url.clone()?,
    };
    Some((endpoints, source))
}

/// How an ID token of a configured provider is checked when a client presents it; `None` when the provider has no ID
/// tokens.
pub(crate) fn find_id_token_rules(
    config: &ProviderConfig,
    token: &str,
) -> Option<Result<IdTokenRules, ProviderError>> {
    let found = named::find_id_token_rules(&config.name, config.url.as_deref(), token)?;
    Some(found.map(|rules| rules.at_addresses(Addresses::from_config(config))))
}

/// How an ID token is checked when only its issuer's name is known: with the standard claims.
pub(crate) fn standard_id_token_rules(issuer: Issuer) -> IdTokenRules {
    IdTokenRules::new(issuer, read_standard_claims)
}
