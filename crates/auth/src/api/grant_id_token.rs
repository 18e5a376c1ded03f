//! `POST /token?grant_type=id_token`: an app has signed somebody in with a provider itself, and brings the ID token.
//!
//! Source: Auth contract §8.4, AUTH-081, AUTH-082.

use actix_web::HttpResponse;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::error::AuthError;
use crate::external_accounts::{self, Admission, Visitor};
use crate::providers::{self, Dialect, Expected, IdToken, Issuer, ProviderError};
use crate::request::{RequestInfo, SignedIn, text};
use crate::rules::equal_secrets;
use crate::sign_in::start_session;
use crate::state::AuthState;
use crate::store::custom_providers;

/// The providers whose ID tokens a project can switch on; others are unknown here, not off.
const WITH_ID_TOKENS: [&str; 8] = [
    "apple",
    "azure",
    "facebook",
    "google",
    "kakao",
    "keycloak",
    "snapchat",
    "vercel_marketplace",
];

/// What a client sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct IdTokenBody {
    #[serde(deserialize_with = "text")]
    id_token: String,
    #[serde(deserialize_with = "text")]
    access_token: String,
    #[serde(deserialize_with = "text")]
    nonce: String,
    #[serde(deserialize_with = "text")]
    provider: String,
    #[serde(deserialize_with = "text")]
    client_id: String,
    #[serde(deserialize_with = "text")]
    issuer: String,
    link_identity: Option<bool>,
}

impl IdTokenBody {
    /// Whether the identity is to be given to the caller instead of signing somebody in.
    pub(crate) fn links(&self) -> bool {
        self.link_identity == Some(true)
    }
}

/// Whose token is expected.
struct Rules {
    provider: String,
    issuer: Issuer,
    aliases: &'static [&'static str],
    dialect: Dialect,
    audiences: Vec<String>,
    skip_nonce_check: bool,
    email_optional: bool,
}

/// `link_target` is the caller, when the identity is to become theirs.
pub(crate) async fn grant(
    state: &AuthState,
    info: &RequestInfo,
    body: IdTokenBody,
    link_target: Option<SignedIn>,
) -> Result<HttpResponse, AuthError> {
    if body.id_token.is_empty() {
        return Err(refuse("id_token required"));
    }
    if body.provider.is_empty() && (body.client_id.is_empty() || body.issuer.is_empty()) {
        return Err(refuse("provider or client_id and issuer required"));
    }
    let rules = rules(state, &body).await?;
    let token = believe(state, &body, &rules).await?;
    let visitor = Visitor {
        provider: &rules.provider,
        profile: &token.profile,
        email_optional: rules.email_optional,
    };
    let _slot = state.mail_slot().await?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let admission = match link_target {
        Some(caller) => external_accounts::link(state, &db, info, &visitor, caller.user.id).await?,
        None => external_accounts::admit(state, &db, info, &visitor).await?,
    };
    match admission {
        Admission::Granted(user_id) => {
            let tokens = start_session(state, &db, info, user_id, "oauth").await?;
            db.commit().await?;
            Ok(tokens.response([]))
        }
        Admission::Refused(error) => {
            db.commit().await?;
            Err(error)
        }
    }
}

fn refuse(description: impl Into<String>) -> AuthError {
    AuthError::oauth("invalid request", description)
}

/// Checks the token, then the nonce that ties it to this sign-in.
async fn believe(state: &AuthState, body: &IdTokenBody, rules: &Rules) -> Result<IdToken, AuthError> {
    let expected = Expected {
        issuer: &rules.issuer,
        aliases: rules.aliases,
        audiences: &rules.audiences,
        access_token: Some(body.access_token.as_str()).filter(|token| !token.is_empty()),
        dialect: rules.dialect,
    };
    let token = providers::verify_id_token(&state.http, &state.issuers, &body.id_token, &expected).await;
    let token = token.map_err(|error| match error {
        ProviderError::Audience(audiences) => refuse(format!(
            "Unacceptable audience in id_token: [{}]",
            audiences.join(" ")
        )),
        error => {
            tracing::info!(provider = rules.provider, %error, "ID token refused");
            refuse("Bad ID token")
        }
    })?;
    if rules.skip_nonce_check {
        return Ok(token);
    }
    if token.nonce.is_empty() != body.nonce.is_empty() {
        return Err(refuse(
            "Passed nonce and nonce in id_token should either both exist or not.",
        ));
    }
    let hashed = hex::encode(Sha256::digest(&body.nonce));
    if !token.nonce.is_empty() && !equal_secrets(&token.nonce, &hashed) {
        return Err(AuthError::oauth("invalid nonce", "Nonces mismatch"));
    }
    Ok(token)
}

/// What is expected of the token: by the provider's name, or by issuer and client id where the project allows that issuer.
async fn rules(state: &AuthState, body: &IdTokenBody) -> Result<Rules, AuthError> {
    if body.provider.starts_with("custom:") {
        return custom_rules(state, &body.provider).await;
    }
    let name = provider_name(state, body);
    if name.is_empty() {
        return issuer_rules(state, body);
    }
    let config = state
        .config
        .external
        .iter()
        .find(|provider| provider.name == name);
    let Some(config) = config else {
        if !WITH_ID_TOKENS.contains(&name.as_str()) {
            return Err(not_allowed(&name));
        }
        return Err(AuthError::ProviderDisabled("Provider is not enabled"));
    };
    let found = providers::id_token_rules(config, &body.id_token);
    let found = found.ok_or_else(|| not_allowed(&name))?;
    let (issuer, aliases, dialect) = found.map_err(|error| {
        tracing::info!(provider = name, %error, "ID token refused");
        AuthError::invalid("Detected ID token issuer is not an issuer of this provider")
    })?;
    if !body.issuer.is_empty() && body.issuer != issuer.name && !aliases.contains(&body.issuer.as_str()) {
        return Err(AuthError::invalid(
            "Provided issuer does not match ID token issuer",
        ));
    }
    Ok(Rules {
        provider: name,
        issuer,
        aliases,
        dialect,
        audiences: config
            .client_ids
            .iter()
            .filter(|id| !id.is_empty())
            .cloned()
            .collect(),
        // Facebook's tokens carry no hash of a nonce.
        skip_nonce_check: config.skip_nonce_check || dialect == Dialect::Facebook,
        email_optional: config.email_optional,
    })
}

/// The named provider, or the configured one whose issuer is named.
fn provider_name(state: &AuthState, body: &IdTokenBody) -> String {
    if !body.provider.is_empty() {
        return body.provider.to_lowercase();
    }
    let is_issuer = |config: &&crate::config::ProviderConfig| {
        providers::id_token_rules(config, &body.id_token)
            .and_then(Result::ok)
            .is_some_and(|(issuer, aliases, _)| {
                issuer.name == body.issuer || aliases.contains(&body.issuer.as_str())
            })
    };
    let found = state.config.external.iter().find(is_issuer);
    found.map(|config| config.name.clone()).unwrap_or_default()
}

/// A provider whose ID tokens we do not read.
fn not_allowed(name: &str) -> AuthError {
    AuthError::invalid(format!("Custom OIDC provider {name:?} not allowed"))
}

fn issuer_rules(state: &AuthState, body: &IdTokenBody) -> Result<Rules, AuthError> {
    if !state.config.allowed_id_token_issuers.contains(&body.issuer) {
        return Err(not_allowed(&body.provider));
    }
    Ok(Rules {
        provider: body.issuer.clone(),
        issuer: Issuer::new(body.issuer.clone()),
        aliases: &[],
        dialect: Dialect::Standard,
        audiences: vec![body.client_id.clone()],
        skip_nonce_check: false,
        email_optional: false,
    })
}

async fn custom_rules(state: &AuthState, identifier: &str) -> Result<Rules, AuthError> {
    let client = state.client().await?;
    let custom = custom_providers::find_by_identifier(&client, identifier).await?;
    let custom =
        custom.ok_or_else(|| AuthError::invalid(format!("Custom provider {identifier:?} not found")))?;
    if !custom.enabled {
        return Err(AuthError::ProviderDisabled("Custom provider is disabled"));
    }
    let issuer = custom.issuer().filter(|_| custom.is_oidc());
    let issuer = issuer
        .ok_or_else(|| AuthError::invalid(format!("Provider {identifier:?} is not an OIDC provider")))?;
    let mut audiences = custom.acceptable_client_ids.clone();
    audiences.push(custom.client_id.clone());
    Ok(Rules {
        provider: custom.identifier,
        issuer,
        aliases: &[],
        dialect: Dialect::Standard,
        audiences,
        skip_nonce_check: custom.skip_nonce_check,
        email_optional: custom.email_optional,
    })
}
