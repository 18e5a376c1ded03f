//! Other people's sign-in pages: where we send a browser, what we get for the code it brings back, and whom that describes.
//!
//! A [`Provider`] is made for one request from the project's configuration ([`catalog`]) or from `auth.custom_oauth_providers`.
//! Nothing here touches users; what follows from a [`Profile`] is decided in `machine::linking`. Source: Auth contract §2.11, §8.

use serde_json::{Map, Value};
use url::Url;

mod catalog;
mod custom;
mod discovery;
mod exchange;
mod id_token;
mod oauth1;
mod profile;
mod userinfo;

pub use catalog::PROVIDER_NAMES;
pub(crate) use custom::Mapping;
pub(crate) use discovery::{Issuer, Issuers, is_callable, is_internal};
pub(crate) use exchange::ProviderTokens;
pub(crate) use id_token::{Dialect, Expected, IdToken, claimed_issuer, verify as verify_id_token};
pub(crate) use oauth1::SignedToken;
pub(crate) use profile::Profile;
use userinfo::UserInfo;

use crate::config::ProviderConfig;
use crate::http_client::{CallError, HttpClient};
use crate::store::custom_providers::CustomProvider;

/// Parameters of the protocol that a caller may not set.
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

/// Why a provider is of no use, or what it sent is not to be believed. For our log, never for the answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProviderError {
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("the issuer's document cannot be used: {0}")]
    Discovery(&'static str),
    #[error("the issuer's document lacks a usable {0}")]
    MissingEndpoint(&'static str),
    #[error("{host} gave no tokens for the code (status {status})")]
    Exchange { host: String, status: u16 },
    #[error("the ID token is not to be believed: {0}")]
    IdToken(&'static str),
    #[error("the ID token is for somebody else: {0:?}")]
    Audience(Vec<String>),
    #[error("the ID token is not to be believed: {0}")]
    Signature(#[from] selvedge_token::TokenError),
    #[error("the provider did not say who it is")]
    NoSubject,
}

/// Where a provider's endpoints are.
#[derive(Debug, Clone)]
enum Endpoints {
    Fixed {
        authorize: String,
        token: String,
    },
    Discovered(Issuer),
    /// Those of OAuth 1.0a, below this address.
    Signed {
        api: String,
    },
}

/// How a provider tells who somebody is.
#[derive(Debug, Clone)]
enum Source {
    /// By an ID token; where it gives none, by `userinfo` in Google's words or at the issuer's endpoint.
    IdToken {
        issuer: Issuer,
        aliases: &'static [&'static str],
        dialect: Dialect,
        userinfo: Option<&'static str>,
    },
    /// By an ID token of the tenant that the token names.
    AzureIdToken { base: String },
    /// By a question with the access token.
    UserInfo { userinfo: UserInfo, api: String },
    /// By a signed question.
    Signed { api: String },
}

/// A provider, ready to be talked to.
#[derive(Debug, Clone)]
pub(crate) struct Provider {
    config: ProviderConfig,
    endpoints: Endpoints,
    source: Source,
    scopes: Vec<String>,
    takes_scopes: bool,
    pub(crate) uses_pkce: bool,
    secret_in_form: bool,
    params: Vec<(String, String)>,
    mapping: Option<Mapping>,
}

impl Provider {
    /// A provider of the project's configuration; `None` when it lacks what the provider needs (Keycloak's URL).
    pub(crate) fn of(config: &ProviderConfig) -> Option<Self> {
        let entry = catalog::entry(&config.name, config.url.as_deref())?;
        Some(Self {
            config: config.clone(),
            endpoints: entry.endpoints,
            source: entry.source,
            scopes: entry.scopes,
            takes_scopes: entry.takes_scopes,
            uses_pkce: entry.uses_pkce,
            secret_in_form: entry.secret_in_form,
            params: entry.params,
            mapping: None,
        })
    }

    /// A provider that an administrator has added; `None` when its row is incomplete.
    pub(crate) fn of_custom(custom: &CustomProvider, redirect_uri: String) -> Option<Self> {
        let (endpoints, source) = if custom.is_oidc() {
            let issuer = custom.issuer()?;
            let source = Source::IdToken {
                issuer: issuer.clone(),
                aliases: &[],
                dialect: Dialect::Standard,
                userinfo: None,
            };
            (Endpoints::Discovered(issuer), source)
        } else {
            let endpoints = Endpoints::Fixed {
                authorize: custom.authorization_url.clone()?,
                token: custom.token_url.clone()?,
            };
            let source = Source::UserInfo {
                userinfo: UserInfo::Standard,
                api: custom.userinfo_url.clone()?,
            };
            (endpoints, source)
        };
        let client_ids = std::iter::once(custom.client_id.clone());
        let params = custom.authorization_params.as_object().into_iter().flatten();
        Some(Self {
            config: ProviderConfig {
                name: custom.identifier.clone(),
                client_ids: client_ids
                    .chain(custom.acceptable_client_ids.iter().cloned())
                    .collect(),
                secret: custom.client_secret.clone().into(),
                redirect_uri,
                url: None,
                skip_nonce_check: custom.skip_nonce_check,
                email_optional: custom.email_optional,
            },
            endpoints,
            source,
            scopes: custom.scopes.clone(),
            takes_scopes: true,
            uses_pkce: custom.pkce_enabled,
            secret_in_form: false,
            params: params
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect(),
            mapping: Some(Mapping::of(custom)),
        })
    }

    pub(crate) fn email_optional(&self) -> bool {
        self.config.email_optional
    }

    fn client_id(&self) -> &str {
        self.config.client_ids.first().map_or("", String::as_str)
    }

    fn secret(&self) -> &str {
        secrecy::ExposeSecret::expose_secret(&self.config.secret)
    }

    fn redirect_uri(&self) -> &str {
        &self.config.redirect_uri
    }

    /// Announces the visit to a provider of the old protocol; what it gave belongs to the visit. `None`: it needs no announcing.
    pub(crate) async fn announce(
        &self,
        http: &HttpClient,
        state: &str,
    ) -> Result<Option<SignedToken>, ProviderError> {
        match &self.endpoints {
            Endpoints::Signed { api } => oauth1::request_token(http, self, api, state).await.map(Some),
            _ => Ok(None),
        }
    }

    /// By which parameter the browser brings back what [`Self::redeem`] wants.
    pub(crate) fn code_parameter(&self) -> &'static str {
        match self.endpoints {
            Endpoints::Signed { .. } => "oauth_verifier",
            _ => "code",
        }
    }

    /// Where the browser goes. `passed_on` are the caller's own parameters; they cannot touch those of the protocol.
    pub(crate) async fn authorize_url(
        &self,
        http: &HttpClient,
        issuers: &Issuers,
        request: &AuthorizeRequest<'_>,
    ) -> Result<String, ProviderError> {
        let base = match &self.endpoints {
            Endpoints::Fixed { authorize, .. } => authorize.clone(),
            Endpoints::Discovered(issuer) => issuers.discover(http, issuer).await?.authorization_endpoint,
            Endpoints::Signed { api } => {
                let token = request
                    .announced
                    .ok_or(ProviderError::MissingEndpoint("request token"))?;
                return Ok(oauth1::authenticate_url(api, token));
            }
        };
        let mut url =
            Url::parse(&base).map_err(|_| ProviderError::MissingEndpoint("authorization_endpoint"))?;
        let mut params = Map::new();
        let mut put = |name: &str, value: &str| params.insert(name.to_owned(), Value::from(value));
        put("client_id", self.client_id());
        put("redirect_uri", self.redirect_uri());
        put("response_type", "code");
        put("state", request.state);
        let scope = self.scope(request.scopes);
        if !scope.is_empty() {
            put("scope", &scope);
        }
        for (name, value) in request.passed_on {
            put(name, value);
        }
        for (name, value) in &self.params {
            put(name, value);
        }
        if let Some(challenge) = request.challenge {
            put("code_challenge", challenge);
            put("code_challenge_method", "S256");
        }
        url.query_pairs_mut().extend_pairs(
            params
                .iter()
                .map(|(name, value)| (name, value.as_str().unwrap_or_default())),
        );
        Ok(url.into())
    }

    /// Our scopes and those asked for: separated by commas, or one text that is passed on as it stands.
    fn scope(&self, asked: &str) -> String {
        let mut scopes = self.scopes.clone();
        if self.takes_scopes && !asked.is_empty() {
            if self.mapping.is_some() {
                // A custom provider's own list is a default; `openid` stays, or there would be no ID token.
                scopes = asked.split_whitespace().map(str::to_owned).collect();
                if matches!(self.source, Source::IdToken { .. })
                    && !scopes.iter().any(|scope| scope == "openid")
                {
                    scopes.insert(0, "openid".to_owned());
                }
            } else {
                scopes.extend(asked.split(',').map(str::to_owned));
            }
        }
        scopes.join(" ")
    }

    /// What the code is worth: the provider's tokens, and whom they describe.
    pub(crate) async fn redeem(
        &self,
        http: &HttpClient,
        issuers: &Issuers,
        code: &str,
        verifier: Option<&str>,
    ) -> Result<ProviderTokens, ProviderError> {
        let (token_url, takes_basic) = match &self.endpoints {
            Endpoints::Fixed { token, .. } => (token.clone(), !self.secret_in_form),
            Endpoints::Discovered(issuer) => {
                let discovery = issuers.discover(http, issuer).await?;
                (
                    discovery.token_endpoint,
                    discovery.takes_basic && !self.secret_in_form,
                )
            }
            Endpoints::Signed { api } => return oauth1::redeem(http, self, api, code, verifier).await,
        };
        exchange::exchange(http, self, (&token_url, takes_basic), code, verifier).await
    }

    /// Whom the tokens describe.
    pub(crate) async fn profile(
        &self,
        http: &HttpClient,
        issuers: &Issuers,
        tokens: &ProviderTokens,
    ) -> Result<Profile, ProviderError> {
        match &self.source {
            Source::UserInfo {
                userinfo: UserInfo::Standard,
                api,
            } => self.asked(http, api, tokens).await,
            Source::Signed { api } => oauth1::profile(http, self, api, tokens).await,
            Source::UserInfo { userinfo, api } => userinfo::fetch(http, self, *userinfo, api, tokens).await,
            Source::IdToken {
                issuer,
                aliases,
                dialect,
                userinfo,
            } => match &tokens.id_token {
                Some(id_token) => {
                    self.believed(http, issuers, id_token, issuer, aliases, *dialect, tokens)
                        .await
                }
                None => match userinfo {
                    Some(api) => userinfo::fetch(http, self, UserInfo::Google, api, tokens).await,
                    None => {
                        let discovery = issuers.discover(http, issuer).await?;
                        let endpoint = discovery.userinfo_endpoint.ok_or(ProviderError::NoSubject)?;
                        self.asked(http, &endpoint, tokens).await
                    }
                },
            },
            Source::AzureIdToken { base } => {
                let id_token = tokens.id_token.as_deref().ok_or(ProviderError::NoSubject)?;
                let issuer = azure_issuer(id_token, Some(base))?;
                self.believed(http, issuers, id_token, &issuer, &[], Dialect::Azure, tokens)
                    .await
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "what a token must meet is all of it")]
    async fn believed(
        &self,
        http: &HttpClient,
        issuers: &Issuers,
        id_token: &str,
        issuer: &Issuer,
        aliases: &[&str],
        dialect: Dialect,
        tokens: &ProviderTokens,
    ) -> Result<Profile, ProviderError> {
        // The web flow's token is for the client that began it; a custom provider names further ones itself.
        let audiences = if self.mapping.is_some() {
            &self.config.client_ids[..]
        } else {
            &self.config.client_ids[..self.config.client_ids.len().min(1)]
        };
        let expected = Expected {
            issuer,
            aliases,
            audiences,
            access_token: Some(&tokens.access_token),
            dialect,
        };
        let token = id_token::verify(http, issuers, id_token, &expected).await?;
        Ok(self.mapped(token.profile, &token.claims))
    }

    /// Whom the provider describes when asked at an OpenID Connect endpoint.
    async fn asked(
        &self,
        http: &HttpClient,
        url: &str,
        tokens: &ProviderTokens,
    ) -> Result<Profile, ProviderError> {
        let claims = userinfo::fetch_claims(http, url, tokens).await?;
        let profile = self.mapped(userinfo::of_claims(&claims), &claims);
        if profile.subject.is_empty() {
            return Err(ProviderError::NoSubject);
        }
        Ok(profile)
    }

    fn mapped(&self, profile: Profile, claims: &Map<String, Value>) -> Profile {
        match &self.mapping {
            Some(mapping) => mapping.apply(profile, claims),
            None => profile,
        }
    }
}

/// What a request to a provider's sign-in page carries.
pub(crate) struct AuthorizeRequest<'a> {
    pub(crate) state: &'a str,
    pub(crate) scopes: &'a str,
    pub(crate) passed_on: &'a [(String, String)],
    /// S256 challenge of our own verifier.
    pub(crate) challenge: Option<&'a str>,
    /// What [`Provider::announce`] gave.
    pub(crate) announced: Option<&'a SignedToken>,
}

/// Who issues a provider's ID tokens, what else it calls itself, and how its claims are read.
type IdTokenRules = (Issuer, &'static [&'static str], Dialect);

/// How a handed-in ID token of a configured provider is checked; `None`: it has none.
pub(crate) fn id_token_rules(
    config: &ProviderConfig,
    token: &str,
) -> Option<Result<IdTokenRules, ProviderError>> {
    if config.name == "azure" {
        let issuer = azure_issuer(token, config.url.as_deref());
        return Some(issuer.map(|issuer| (issuer, [].as_slice(), Dialect::Azure)));
    }
    catalog::id_token_issuer(&config.name, config.url.as_deref()).map(Ok)
}

/// The tenant's issuer, as the token claims it; a project that names one tenant takes no other.
fn azure_issuer(token: &str, base: Option<&str>) -> Result<Issuer, ProviderError> {
    let claimed = claimed_issuer(token).ok_or(ProviderError::IdToken("it has no issuer"))?;
    let expected = base.map(|base| format!("{}/v2.0", base.trim_end_matches('/')));
    let names_one_tenant = |issuer: &String| {
        let any = ["/common/", "/organizations/", "/consumers/"];
        !any.iter().any(|tenants| issuer.contains(tenants))
    };
    match expected.filter(names_one_tenant) {
        Some(expected) if expected == claimed => Ok(Issuer::new(claimed)),
        Some(_) => Err(ProviderError::IdToken("it is of another tenant")),
        None if catalog::is_azure_issuer(&claimed) => Ok(Issuer::new(claimed)),
        None => Err(ProviderError::IdToken("it is not of Azure")),
    }
}
