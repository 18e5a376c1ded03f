//! `POST /token?grant_type=id_token`: an application has signed a user in with an external provider itself, for
//! example by the SDK of a phone, and sends the provider's ID token.
//!
//! Source: Auth contract §8.4, AUTH-081, AUTH-082.

use actix_web::HttpResponse;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::session_response::respond_with_session;
use crate::crypto::equal_secrets;
use crate::error::{AuthError, ProviderError};
use crate::flows::external_accounts::{self, ExternalUser, SignInOutcome};
use crate::flows::sign_in::start_session;
use crate::flows::{linked_identities, locked_caller};
use crate::providers::{self, ExpectedIdToken, IdToken, IdTokenRules, Issuer, standard_id_token_rules};
use crate::request::{AuthRequest, SignedIn, read_text};
use crate::state::AuthState;
use crate::store::custom_providers;

/// Providers whose ID tokens can be enabled. Compat: for these a disabled provider is `provider_disabled`; any other
/// name is `validation_failed`.
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

/// Body of the grant: `{id_token, provider}` or `{id_token, client_id, issuer}`. `access_token`, if given, must fit the
/// `at_hash` of the token; `nonce` is required when the token has one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct IdTokenBody {
    #[serde(deserialize_with = "read_text")]
    id_token: String,
    #[serde(deserialize_with = "read_text")]
    access_token: String,
    #[serde(deserialize_with = "read_text")]
    nonce: String,
    #[serde(deserialize_with = "read_text")]
    provider: String,
    #[serde(deserialize_with = "read_text")]
    client_id: String,
    #[serde(deserialize_with = "read_text")]
    issuer: String,
    link_identity: Option<bool>,
}

impl IdTokenBody {
    /// Whether the identity is to be linked to the caller instead of signing in.
    pub(crate) fn wants_link(&self) -> bool {
        self.link_identity == Some(true)
    }
}

/// The rules that the token is checked against, from the configuration of its provider.
struct Rules {
    provider: String,
    token: IdTokenRules,
    /// The accepted client ids; the `aud` of the token must hold one of them.
    audiences: Vec<String>,
    skip_nonce_check: bool,
    email_optional: bool,
}

/// `POST /token?grant_type=id_token` → 200 with a session, with `amr` `oauth`. `link_target` is the caller when the
/// identity is to be linked to them.
///
/// # Errors
/// OAuth bodies with status 400: `invalid request` for missing members or a token that is not accepted, `invalid
/// nonce`. 400 `provider_disabled` or `validation_failed`; 422 `signup_disabled`, `provider_email_needs_verification`
/// or `identity_already_exists`; 403 `user_banned`; to link an identity, 400 `reauthentication_needed` in a session older than a day
/// with `secure_password_change`.
pub(crate) async fn sign_in_with_id_token(
    request: &AuthRequest,
    body: IdTokenBody,
    link_target: Option<SignedIn>,
) -> Result<HttpResponse, AuthError> {
    if body.id_token.is_empty() {
        return Err(invalid_request("id_token required"));
    }
    if body.provider.is_empty() && (body.client_id.is_empty() || body.issuer.is_empty()) {
        return Err(invalid_request("provider or client_id and issuer required"));
    }
    let rules = find_rules(&request.state, &body).await?;
    let token = verify_token(&request.state, &body, &rules).await?;
    let external = ExternalUser {
        provider: &rules.provider,
        profile: &token.profile,
        email_optional: rules.email_optional,
    };
    let _slot = request.state.acquire_mail_slot().await?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let outcome = match link_target {
        Some(caller) => {
            linked_identities::check_fresh_session(&request.state, &caller)?;
            let caller = locked_caller::lock_caller(request, &db, &caller).await?;
            linked_identities::link_identity(request, &db, &external, &caller).await?
        }
        None => external_accounts::find_or_create_account(request, &db, &external).await?,
    };
    match outcome {
        SignInOutcome::Allowed(user_id) => {
            let tokens = start_session(request, &db, user_id, "oauth").await?;
            db.commit().await?;
            Ok(respond_with_session(&tokens))
        }
        // Committed although the request fails: the account and the mailed confirmation must stay.
        SignInOutcome::Refused(error) => {
            db.commit().await?;
            Err(error)
        }
    }
}

/// Compat: the OAuth code is written with a space, as upstream does, not `invalid_request`.
fn invalid_request(description: impl Into<String>) -> AuthError {
    AuthError::oauth("invalid request", description)
}

/// Verifies the token, then the nonce that binds it to this sign-in: the token holds the hex SHA-256 of the nonce
/// that the application sends, so a token that was stolen elsewhere cannot be used here.
///
/// # Errors
/// 400 `invalid request` or `invalid nonce` (OAuth bodies).
async fn verify_token(state: &AuthState, body: &IdTokenBody, rules: &Rules) -> Result<IdToken, AuthError> {
    let expected = ExpectedIdToken {
        rules: &rules.token,
        audiences: &rules.audiences,
        access_token: Some(body.access_token.as_str()).filter(|token| !token.is_empty()),
    };
    let token = providers::verify_id_token(
        state.http_for_provider(&rules.provider),
        &state.issuers,
        &body.id_token,
        &expected,
    )
    .await;
    let token = token.map_err(|error| match error {
        ProviderError::Audience(audiences) => invalid_request(format!(
            "Unacceptable audience in id_token: [{}]",
            audiences.join(" ")
        )),
        error => {
            tracing::info!(provider = rules.provider, %error, "ID token refused");
            invalid_request("Bad ID token")
        }
    })?;
    // The project may switch the check off for providers whose SDKs do not return the nonce.
    if rules.skip_nonce_check {
        return Ok(token);
    }
    if token.nonce.is_empty() != body.nonce.is_empty() {
        return Err(invalid_request(
            "Passed nonce and nonce in id_token should either both exist or not.",
        ));
    }
    let hashed = hex::encode(Sha256::digest(&body.nonce));
    if !token.nonce.is_empty() && !equal_secrets(&token.nonce, &hashed) {
        return Err(AuthError::oauth("invalid nonce", "Nonces mismatch"));
    }
    Ok(token)
}

/// The rules for the token: by the provider's name, or by the issuer of a configured one. An issuer that is not configured is
/// refused, because the project has not said which of its clients the token may be for.
///
/// # Errors
/// 400 `provider_disabled` or `validation_failed`.
async fn find_rules(state: &AuthState, body: &IdTokenBody) -> Result<Rules, AuthError> {
    if body.provider.starts_with("custom:") {
        return find_custom_rules(state, &body.provider).await;
    }
    let name = find_provider_name(state, body);
    if name.is_empty() {
        return Err(provider_not_allowed(&body.provider));
    }
    let config = state
        .config
        .external
        .iter()
        .find(|provider| provider.name == name);
    let Some(config) = config else {
        if !WITH_ID_TOKENS.contains(&name.as_str()) {
            return Err(provider_not_allowed(&name));
        }
        return Err(AuthError::ProviderDisabled("Provider is not enabled"));
    };
    let found = providers::find_id_token_rules(config, &body.id_token);
    let found = found.ok_or_else(|| provider_not_allowed(&name))?;
    let token = found.map_err(|error| {
        tracing::info!(provider = name, %error, "ID token refused");
        AuthError::invalid("Detected ID token issuer is not an issuer of this provider")
    })?;
    if !body.issuer.is_empty() && !token.is_issuer(&body.issuer) {
        return Err(AuthError::invalid(
            "Provided issuer does not match ID token issuer",
        ));
    }
    Ok(Rules {
        provider: name,
        // Facebook's ID tokens carry no nonce to compare.
        skip_nonce_check: config.skip_nonce_check || !token.has_nonce,
        token,
        audiences: config
            .client_ids
            .iter()
            .filter(|id| !id.is_empty())
            .cloned()
            .collect(),
        email_optional: config.email_optional,
    })
}

/// The named provider, or else the configured one that has the given issuer; empty when there is none.
fn find_provider_name(state: &AuthState, body: &IdTokenBody) -> String {
    if !body.provider.is_empty() {
        return body.provider.to_lowercase();
    }
    let is_issuer = |config: &&crate::config::ProviderConfig| {
        providers::find_id_token_rules(config, &body.id_token)
            .and_then(Result::ok)
            .is_some_and(|rules| rules.is_issuer(&body.issuer))
    };
    let found = state.config.external.iter().find(is_issuer);
    found.map(|config| config.name.clone()).unwrap_or_default()
}

/// The error for an issuer that is not one of a configured provider.
fn provider_not_allowed(name: &str) -> AuthError {
    AuthError::invalid(format!("Custom OIDC provider {name:?} not allowed"))
}

/// The rules for a provider that an administrator has added (`custom:…`).
///
/// # Errors
/// 400 `validation_failed` for an unknown one or one without OpenID Connect, 400 `provider_disabled`.
async fn find_custom_rules(state: &AuthState, identifier: &str) -> Result<Rules, AuthError> {
    let client = state.connect().await?;
    let custom = custom_providers::find_by_identifier(&client, identifier).await?;
    let custom =
        custom.ok_or_else(|| AuthError::invalid(format!("Custom provider {identifier:?} not found")))?;
    if !custom.enabled {
        return Err(AuthError::ProviderDisabled("Custom provider is disabled"));
    }
    let issuer = Issuer::from_custom(&custom).filter(|_| custom.is_oidc());
    let issuer = issuer
        .ok_or_else(|| AuthError::invalid(format!("Provider {identifier:?} is not an OIDC provider")))?;
    let mut audiences = custom.acceptable_client_ids.clone();
    audiences.push(custom.client_id.clone());
    Ok(Rules {
        provider: custom.identifier,
        token: standard_id_token_rules(issuer),
        audiences,
        skip_nonce_check: custom.skip_nonce_check,
        email_optional: custom.email_optional,
    })
}
