//! Finishes a sign-in by an external provider when the browser comes back: finds the flow by `state`, exchanges the
//! provider's code, reads the profile, then signs the user in within one transaction.
//!
//! Calls to the provider are made while no database connection is held. Source: Auth contract §2.11, §8.2, AUTH-039 to
//! AUTH-048.

use chrono::TimeDelta;
use deadpool_postgres::Transaction;
use serde_json::Value;
use uuid::Uuid;

use crate::error::{AuthError, Fault};
use crate::flows::external_accounts::{self, ExternalUser, SignInOutcome};
use crate::flows::linked_identities;
use crate::flows::locked_caller::{self, LockedCaller};
use crate::flows::sign_in::{TokenPair, start_session};
use crate::flows::start_provider_sign_in::find_provider;
use crate::providers::{Profile, Provider, ProviderTokens};
use crate::request::AuthRequest;
use crate::state::AuthState;
use crate::store::flow_states;
use crate::store::provider_flows::{self, ProviderFlow};

/// How long after `GET /authorize` the browser may return. It covers the visit to the provider and the exchange of
/// the code.
const FLOW_LIFETIME: TimeDelta = TimeDelta::seconds(300);

/// The parameters that the browser brings back, from the query or a form.
pub(crate) struct CallbackParams(Vec<(String, String)>);

impl CallbackParams {
    pub(crate) fn parse(text: &[u8]) -> Self {
        Self(url::form_urlencoded::parse(text).into_owned().collect())
    }

    pub(crate) fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }
}

/// The result of a successful return: a session in the implicit flow, an authorization code in the PKCE flow.
pub(crate) enum CallbackOutcome {
    Session {
        tokens: Box<TokenPair>,
        provider: ProviderTokens,
    },
    AuthCode(String),
}

/// The flow that `state` identifies.
///
/// # Errors
/// `bad_oauth_callback` without a state, `bad_oauth_state` for an unknown or expired one, `flow_state_already_used`
/// for a PKCE flow that has a user already.
pub(crate) async fn find_flow(state: &AuthState, text: &str) -> Result<ProviderFlow, AuthError> {
    if text.is_empty() {
        return Err(AuthError::BadOauthCallback("OAuth state parameter missing"));
    }
    let id: Uuid = text
        .parse()
        .map_err(|_| AuthError::BadOauthState("OAuth state parameter is invalid"))?;
    let client = state.connect().await?;
    let flow = provider_flows::find_by_id(&client, id).await?;
    let flow = flow.ok_or(AuthError::BadOauthState("OAuth state not found or expired"))?;
    if state.now() - flow.created_at > FLOW_LIFETIME {
        return Err(AuthError::BadOauthState("OAuth state has expired"));
    }
    if flow.is_pkce && flow.user_id.is_some() {
        return Err(AuthError::FlowStateAlreadyUsed);
    }
    Ok(flow)
}

/// Exchanges the provider's code, reads the profile and signs the user in.
///
/// # Errors
/// The provider's own error; `bad_oauth_callback` without a code; those of [`take_verifier`] and
/// [`sign_in_and_store_result`]; a 500 when the provider fails or does not return an e-mail address.
pub(crate) async fn finish_sign_in(
    request: &AuthRequest,
    params: &CallbackParams,
    flow: &ProviderFlow,
) -> Result<CallbackOutcome, AuthError> {
    check_returned_error(params)?;
    let provider = find_provider(&request.state, &flow.provider).await?;
    let provider = provider.ok_or_else(|| AuthError::OauthProviderNotSupported(flow.provider.clone()))?;
    let code = params.get(provider.code_parameter());
    if code.is_empty() {
        return Err(AuthError::BadOauthCallback(
            "OAuth callback with missing authorization code missing",
        ));
    }
    let verifier = take_verifier(&request.state, flow, &provider).await?;
    let tokens = provider
        .exchange_code(
            request.state.http_for_provider(&flow.provider),
            &request.state.issuers,
            code,
            verifier.as_deref(),
        )
        .await
        .map_err(|error| AuthError::internal("Unable to exchange external code", error))?;
    let profile = provider
        .fetch_profile(
            request.state.http_for_provider(&flow.provider),
            &request.state.issuers,
            &tokens,
        )
        .await
        .map_err(|error| AuthError::internal("Error getting user profile from external provider", error))?;
    // Adds the name before the user is created, because triggers of projects read it at the INSERT.
    let profile = add_posted_name(profile, &flow.provider, params.get("user"));
    // Compat: upstream responds with a 500 here, not with `email_address_not_provided`.
    if profile.emails.is_empty() && !flow.email_optional {
        let fault = Fault::Other("the provider returned no e-mail address");
        return Err(AuthError::internal(
            "Error getting user email from external provider",
            fault,
        ));
    }
    let external = ExternalUser {
        provider: &flow.provider,
        profile: &profile,
        email_optional: flow.email_optional,
    };
    sign_in_and_store_result(request, flow, &external, tokens).await
}

/// Refuses a return that carries an error instead of a code (RFC 6749 §4.1.2.1). Error and description are passed on
/// unchanged.
fn check_returned_error(params: &CallbackParams) -> Result<(), AuthError> {
    let error = params.get("error");
    if !error.is_empty() {
        return Err(AuthError::oauth(
            error.to_owned(),
            params.get("error_description"),
        ));
    }
    // OAuth 1.0a: Twitter sends `denied` when the user refuses.
    if !params.get("denied").is_empty() {
        return Err(AuthError::oauth("access_denied", "The user denied the request"));
    }
    Ok(())
}

/// Takes what `GET /authorize` stored for the provider: the PKCE verifier, or the request token of OAuth
/// 1.0a. It is deleted by being read, so that a callback cannot be repeated.
///
/// # Errors
/// `oauth_client_state_not_found`, `oauth_client_state_expired` or `oauth_invalid_state`.
async fn take_verifier(
    state: &AuthState,
    flow: &ProviderFlow,
    provider: &Provider,
) -> Result<Option<String>, AuthError> {
    let Some(id) = flow.client_state else {
        if provider.uses_pkce() {
            return Err(AuthError::OauthInvalidState("OAuth PKCE code verifier missing"));
        }
        return Ok(None);
    };
    let client = state.connect().await?;
    let stored = provider_flows::take_client_state(&client, id).await?;
    let stored = stored.ok_or(AuthError::OauthClientStateNotFound)?;
    if stored.provider != flow.provider {
        return Err(AuthError::OauthInvalidState("OAuth provider mismatch"));
    }
    if state.now() - stored.created_at > FLOW_LIFETIME {
        return Err(AuthError::OauthClientStateExpired);
    }
    Ok(Some(stored.verifier))
}

/// Adds the name that Apple posts beside the code at the first consent only; the ID token never holds it. `posted` is
/// JSON of the form `{name: {firstName, lastName}}`.
fn add_posted_name(profile: Profile, provider: &str, posted: &str) -> Profile {
    if provider != "apple" || posted.is_empty() {
        return profile;
    }
    let user: Value = serde_json::from_str(posted).unwrap_or_default();
    let part = |name: &str| user["name"][name].as_str().unwrap_or_default().to_owned();
    let name = format!("{} {}", part("firstName"), part("lastName"));
    profile.with_full_name(name.trim())
}

/// Signs the user in and deletes the flow or stores its result, in one transaction.
///
/// # Errors
/// `bad_oauth_state` or `flow_state_already_used` when another request finished the flow first, and those of
/// `external_accounts`.
async fn sign_in_and_store_result(
    request: &AuthRequest,
    flow: &ProviderFlow,
    external: &ExternalUser<'_>,
    tokens: ProviderTokens,
) -> Result<CallbackOutcome, AuthError> {
    // An unverified address leads to a confirmation mail. The slot is taken before the connection.
    let _slot = request.state.acquire_mail_slot().await?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    // The user before the flow, which is the order in which the end of all sessions locks them.
    let caller = lock_linking_caller(request, &db, flow).await?;
    lock_unused_flow(&db, flow.id).await?;
    let outcome = match caller {
        Some(caller) => linked_identities::link_identity(request, &db, external, &caller).await?,
        None if !flow.invite_token.is_empty() => {
            external_accounts::accept_invitation(request, &db, external, &flow.invite_token).await?
        }
        None => external_accounts::find_or_create_account(request, &db, external).await?,
    };
    // The hook `before_user_created` commits the transaction, and with it ends the lock.
    lock_unused_flow(&db, flow.id).await?;
    let user_id = match outcome {
        SignInOutcome::Allowed(user_id) => user_id,
        // Committed although the request fails: the account and the mailed confirmation must stay.
        SignInOutcome::Refused(error) => {
            flow_states::delete(&db, flow.id).await?;
            db.commit().await?;
            return Err(error);
        }
    };
    let outcome = if flow.is_pkce {
        let provider_tokens = (tokens.access_token.as_str(), tokens.refresh_token.as_deref());
        provider_flows::set_result(&db, flow.id, user_id, provider_tokens, request.now()).await?;
        CallbackOutcome::AuthCode(flow.auth_code.clone())
    } else {
        flow_states::delete(&db, flow.id).await?;
        CallbackOutcome::Session {
            tokens: Box::new(start_session(request, &db, user_id, "oauth").await?),
            provider: tokens,
        }
    };
    db.commit().await?;
    Ok(outcome)
}

/// The user to whom the flow links an identity, and the session that has begun it, both locked; `None` for a sign-in. The
/// session may have ended since, for example because its user has changed the password.
///
/// # Errors
/// 422 `user_not_found`, 403 `session_not_found` or `user_banned`.
async fn lock_linking_caller(
    request: &AuthRequest,
    db: &Transaction<'_>,
    flow: &ProviderFlow,
) -> Result<Option<LockedCaller>, AuthError> {
    let Some(user_id) = flow.linking_target else {
        return Ok(None);
    };
    let session_id = flow.session.ok_or(AuthError::TokenSessionNotFound)?;
    let locked = locked_caller::lock_session(request, db, (user_id, session_id)).await;
    locked.map(Some).map_err(|error| match error {
        AuthError::TokenUserNotFound => AuthError::LinkTargetNotFound,
        error => error,
    })
}

/// Locks the flow until the end of the transaction. Another callback with the same state may have finished since the
/// flow was found.
///
/// # Errors
/// 400 `bad_oauth_state` when the flow is gone, `flow_state_already_used` when it has its result.
async fn lock_unused_flow(db: &Transaction<'_>, id: Uuid) -> Result<(), AuthError> {
    let locked = provider_flows::lock_by_id(db, id).await?;
    let locked = locked.ok_or(AuthError::BadOauthState("OAuth state not found or expired"))?;
    if locked.is_pkce && locked.user_id.is_some() {
        return Err(AuthError::FlowStateAlreadyUsed);
    }
    Ok(())
}
