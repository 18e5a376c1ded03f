//! Second half of a sign-in with a provider, after the callback: the code is exchanged for tokens, and the profile is
//! read with them.

use serde_json::{Map, Value};

use super::code_exchange::{CodeExchange, ProviderTokens};
use super::definition::{Endpoints, IdTokenRules, ProfileSource};
use super::discovery::Issuers;
use super::id_token::{self, ExpectedIdToken, read_standard_claims};
use super::oauth1;
use super::profile::Profile;
use super::profile_api::ProfileApi;
use super::provider::Provider;
use crate::error::ProviderError;
use crate::http_client::{Call, HttpClient};

/// What reading a profile may use: the HTTP client, the cache of issuers, and the tokens of the user.
#[derive(Clone, Copy)]
struct ProfileSources<'a> {
    http: &'a HttpClient,
    issuers: &'a Issuers,
    tokens: &'a ProviderTokens,
}

impl Provider {
    /// Exchanges the code of the callback for the provider's tokens. `verifier` is what `/authorize` stored: our PKCE
    /// verifier, or the request token of OAuth 1.0a.
    ///
    /// # Errors
    /// A provider that cannot be reached or refuses the code.
    pub(crate) async fn exchange_code(
        &self,
        http: &HttpClient,
        issuers: &Issuers,
        code: &str,
        verifier: Option<&str>,
    ) -> Result<ProviderTokens, ProviderError> {
        let (token_url, accepts_basic) = match &self.definition.endpoints {
            Endpoints::Fixed { token, .. } => (self.addresses().resolve_url(token), true),
            Endpoints::Discovered(issuer) => {
                let issuer = self.addresses().resolve_issuer(issuer);
                let discovery = issuers.find_endpoints(http, &issuer).await?;
                (discovery.token_endpoint, discovery.accepts_basic)
            }
            Endpoints::OAuth1 { api } => {
                return oauth1::exchange_verifier(http, &self.client, api, code, verifier).await;
            }
        };
        let exchange = CodeExchange {
            token_url: &token_url,
            accepts_basic: accepts_basic && !self.definition.secret_in_form,
            code,
            verifier,
        };
        exchange.exchange_code(http, &self.client).await
    }

    /// Fetches the profile of the user whom the tokens belong to.
    ///
    /// # Errors
    /// A provider that cannot be reached, an ID token that cannot be verified, and [`ProviderError::NoSubject`] for a
    /// response without a user id.
    pub(crate) async fn fetch_profile(
        &self,
        http: &HttpClient,
        issuers: &Issuers,
        tokens: &ProviderTokens,
    ) -> Result<Profile, ProviderError> {
        let sources = ProfileSources {
            http,
            issuers,
            tokens,
        };
        match &self.definition.profile_source {
            ProfileSource::UserInfo { url } => self.fetch_userinfo(http, url, tokens).await,
            ProfileSource::OAuth1 { api } => oauth1::fetch_profile(http, &self.client, api, tokens).await,
            ProfileSource::Api(api) => api.fetch_profile(http, &self.client, tokens).await,
            ProfileSource::IdToken { rules, fallback } => match &tokens.id_token {
                Some(id_token) => self.verify_id_token(sources, id_token, rules).await,
                None => {
                    self.fetch_without_id_token(sources, rules, fallback.as_ref())
                        .await
                }
            },
            ProfileSource::TenantIdToken { url, rules } => {
                // Without the token the tenant is unknown, and with it the issuer that could be asked for the profile.
                let id_token = tokens.id_token.as_deref().ok_or(ProviderError::NoSubject)?;
                let rules = rules(url, id_token)?;
                self.verify_id_token(sources, id_token, &rules).await
            }
        }
    }

    /// Verifies the ID token of the token response and applies the attribute mapping. No nonce is compared, because the
    /// token comes directly from the provider's token endpoint and not through the browser.
    async fn verify_id_token(
        &self,
        sources: ProfileSources<'_>,
        id_token: &str,
        rules: &IdTokenRules,
    ) -> Result<Profile, ProviderError> {
        // Further client ids belong to mobile apps, whose tokens arrive by `grant_type=id_token`. In the web flow only
        // the client that started the sign-in may be the audience; a custom provider has an explicit list of ids that
        // it accepts.
        let all_ids = &self.client.client_ids[..];
        let audiences = match self.mapping {
            Some(_) => all_ids,
            None => all_ids.get(..1).unwrap_or_default(),
        };
        let rules = &rules.at_addresses(self.addresses());
        let expected = ExpectedIdToken {
            rules,
            audiences,
            access_token: Some(&sources.tokens.access_token),
        };
        let token = id_token::verify_id_token(sources.http, sources.issuers, id_token, &expected).await?;
        Ok(self.apply_mapping(token.profile, &token.claims))
    }

    /// Fetches the profile when the token response has no ID token: from the provider's `fallback` API, else from the
    /// issuer's userinfo endpoint.
    async fn fetch_without_id_token(
        &self,
        sources: ProfileSources<'_>,
        rules: &IdTokenRules,
        fallback: Option<&ProfileApi>,
    ) -> Result<Profile, ProviderError> {
        let ProfileSources {
            http,
            issuers,
            tokens,
        } = sources;
        if let Some(api) = fallback {
            return api.fetch_profile(http, &self.client, tokens).await;
        }
        let issuer = self.addresses().resolve_issuer(&rules.issuer);
        let discovery = issuers.find_endpoints(http, &issuer).await?;
        let endpoint = discovery.userinfo_endpoint.ok_or(ProviderError::NoSubject)?;
        self.fetch_userinfo(http, &endpoint, tokens).await
    }

    /// Reads the claims of an OpenID Connect userinfo endpoint (OpenID Connect Core §5.3).
    async fn fetch_userinfo(
        &self,
        http: &HttpClient,
        url: &str,
        tokens: &ProviderTokens,
    ) -> Result<Profile, ProviderError> {
        let call = Call::get(url).bearer(&tokens.access_token);
        let Value::Object(claims) = http.send(call).await?.json()? else {
            return Err(ProviderError::NoSubject);
        };
        let profile = self.apply_mapping(read_standard_claims(&claims), &claims);
        // Checked after the mapping, because a mapping may set `sub`.
        if profile.subject.is_empty() {
            return Err(ProviderError::NoSubject);
        }
        Ok(profile)
    }

    /// Applies the attribute mapping of a custom provider; other profiles are returned unchanged.
    fn apply_mapping(&self, profile: Profile, claims: &Map<String, Value>) -> Profile {
        match &self.mapping {
            Some(mapping) => mapping.apply_to(profile, claims),
            None => profile,
        }
    }
}
