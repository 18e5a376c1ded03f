//! First half of a sign-in with a provider: builds the URL of the provider's sign-in page, and for OAuth 1.0a fetches
//! the request token that this URL contains.
//!
//! Called by `GET /authorize`. The browser comes back to `/callback`, which continues in [`super::sign_in`].

use serde_json::{Map, Value};
use url::Url;

use super::definition::{Endpoints, ProfileSource};
use super::discovery::Issuers;
use super::oauth1::{self, OAuth1Token};
use super::provider::Provider;
use crate::error::ProviderError;
use crate::http_client::HttpClient;

/// Parameters of the protocol, which neither the query of `/authorize` nor an administrator's `authorization_params`
/// may set: a replaced `state` or `code_challenge` would remove the protection against forged callbacks. Source: Auth
/// contract §2.11.
pub(crate) const RESERVED_PARAMS: [&str; 8] = [
    "client_id",
    "client_secret",
    "redirect_uri",
    "response_type",
    "state",
    "code_challenge",
    "code_challenge_method",
    "code_verifier",
];

/// Inputs of [`Provider::build_authorize_url`] that differ between sign-ins.
pub(crate) struct AuthorizeRequest<'a> {
    /// Id of the sign-in's row in `auth.flow_state`; the provider returns it to the callback.
    pub(crate) state: &'a str,
    /// `scopes` of the query of `/authorize`; empty when the caller asks for none.
    pub(crate) scopes: &'a str,
    /// Further parameters of the query, which the provider gets (`prompt`, `login_hint`, …); none of
    /// [`RESERVED_PARAMS`].
    pub(crate) extra_params: &'a [(String, String)],
    /// S256 challenge of the PKCE verifier that this server keeps; `None` for providers without PKCE.
    pub(crate) challenge: Option<&'a str>,
    /// Result of [`Provider::fetch_request_token`].
    pub(crate) request_token: Option<&'a OAuth1Token>,
}

impl Provider {
    /// Fetches the request token that OAuth 1.0a needs before the browser leaves; `None` for OAuth 2.0.
    ///
    /// # Errors
    /// A provider that cannot be reached or refuses.
    pub(crate) async fn fetch_request_token(
        &self,
        http: &HttpClient,
        state: &str,
    ) -> Result<Option<OAuth1Token>, ProviderError> {
        match &self.definition.endpoints {
            Endpoints::OAuth1 { api } => oauth1::fetch_request_token(http, &self.client, api, state)
                .await
                .map(Some),
            _ => Ok(None),
        }
    }

    /// Name of the callback's parameter whose value [`Self::exchange_code`] takes.
    pub(crate) fn code_parameter(&self) -> &'static str {
        match self.definition.endpoints {
            Endpoints::OAuth1 { .. } => "oauth_verifier",
            _ => "code",
        }
    }

    /// Builds the URL of the provider's sign-in page.
    ///
    /// # Errors
    /// A discovery document that cannot be fetched or is unusable; for OAuth 1.0a, a missing request token.
    pub(crate) async fn build_authorize_url(
        &self,
        http: &HttpClient,
        issuers: &Issuers,
        request: &AuthorizeRequest<'_>,
    ) -> Result<String, ProviderError> {
        let base = match &self.definition.endpoints {
            Endpoints::Fixed { authorize, .. } => self.addresses().resolve_url(authorize),
            Endpoints::Discovered(issuer) => {
                let issuer = self.addresses().resolve_issuer(issuer);
                issuers
                    .find_endpoints(http, &issuer)
                    .await?
                    .authorization_endpoint
            }
            Endpoints::OAuth1 { api } => {
                let token = request
                    .request_token
                    .ok_or(ProviderError::MissingEndpoint("request token"))?;
                // OAuth 1.0a sends all other parameters with the request for this token.
                return Ok(oauth1::build_authenticate_url(&self.client, api, token));
            }
        };
        let mut url =
            Url::parse(&base).map_err(|_| ProviderError::MissingEndpoint("authorization_endpoint"))?;
        // The parameters are appended, because a custom provider's URL may have a query of its own.
        url.query_pairs_mut().extend_pairs(
            self.build_authorize_params(request)
                .iter()
                .map(|(name, value)| (name, value.as_str().unwrap_or_default())),
        );
        Ok(url.into())
    }

    /// The parameters of the authorization request (RFC 6749 §4.1.1), each name once.
    ///
    /// A later entry replaces an earlier one, so the fixed parameters of the provider override the caller's.
    fn build_authorize_params(&self, request: &AuthorizeRequest<'_>) -> Map<String, Value> {
        let mut params = Map::new();
        let mut put = |name: &str, value: &str| params.insert(name.to_owned(), Value::from(value));
        put("client_id", self.client.client_id());
        put("redirect_uri", &self.client.redirect_uri);
        put("response_type", "code");
        put("state", request.state);
        let scope = self.join_scopes(request.scopes);
        if !scope.is_empty() {
            put("scope", &scope);
        }
        // Neither loop can set a reserved parameter: the caller's are filtered, and administrators' are rejected when
        // they are saved.
        for (name, value) in request.extra_params {
            put(name, value);
        }
        for (name, value) in &self.definition.params {
            put(name, value);
        }
        if let Some(challenge) = request.challenge {
            put("code_challenge", challenge);
            put("code_challenge_method", "S256");
        }
        params
    }

    /// The value of `scope`: the provider's own scopes and the requested ones, separated by spaces.
    ///
    /// Compat: GoTrue splits the requested scopes at commas only, so a list separated by spaces is appended unchanged.
    fn join_scopes(&self, requested: &str) -> String {
        let mut scopes = self.definition.scopes.clone();
        if self.definition.accepts_scopes && !requested.is_empty() {
            if self.mapping.is_some() {
                // For a custom provider the configured scopes are a default that the request replaces. `openid` is
                // always sent, because without it the provider returns no ID token.
                scopes = requested.split_whitespace().map(str::to_owned).collect();
                let is_oidc = matches!(self.definition.profile_source, ProfileSource::IdToken { .. });
                if is_oidc && !scopes.iter().any(|scope| scope == "openid") {
                    scopes.insert(0, "openid".to_owned());
                }
            } else {
                scopes.extend(requested.split(',').map(str::to_owned));
            }
        }
        scopes.join(" ")
    }
}
