//! `POST /token?grant_type=pkce`: exchanges the authorization code of a finished flow for a session, once. Source:
//! Auth contract §2.4, §3.2, AUTH-046 to AUTH-048.

use actix_web::HttpResponse;
use chrono::TimeDelta;
use serde::Deserialize;
use serde_json::json;

use super::session_response::{SessionExtra, respond_with_extended_session};
use crate::error::AuthError;
use crate::flows::accounts;
use crate::flows::sign_in::start_session_until;
use crate::request::{AuthRequest, read_text};
use crate::state::AuthState;
use crate::store::audit::Action;
use crate::store::flow_states::{self, FlowState};
use crate::store::{saml, users};

/// How long an authorization code is valid after it was issued.
const CODE_LIFETIME: TimeDelta = TimeDelta::seconds(300);

/// Body of the grant: `{auth_code, code_verifier}`, both required.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PkceBody {
    #[serde(deserialize_with = "read_text")]
    auth_code: String,
    #[serde(deserialize_with = "read_text")]
    code_verifier: String,
}

/// `POST /token?grant_type=pkce` → 200 with a session, whose `amr` names the method of the flow. After a sign-in by a
/// provider it also carries `provider_token` and `provider_refresh_token`.
///
/// # Errors
/// 400 `validation_failed` for an empty member; 404 `flow_state_not_found` for an unknown or used code; 422
/// `flow_state_expired`; 400 `bad_code_verifier`; 400 `user_banned`.
pub(crate) async fn exchange_auth_code(
    request: &AuthRequest,
    body: PkceBody,
) -> Result<HttpResponse, AuthError> {
    if body.auth_code.is_empty() || body.code_verifier.is_empty() {
        return Err(AuthError::invalid(
            "invalid request: both auth code and code verifier should be non-empty",
        ));
    }
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let unknown = || AuthError::FlowStateNotFound { status: 404 };
    // The user is locked before the flow, in the order of a new password, which ends flows: if it comes first, there is no flow
    // any more.
    let user_id = flow_states::find_user_by_code(&db, &body.auth_code).await?;
    let user_id = user_id.ok_or_else(unknown)?;
    let user = users::lock_by_id(&db, user_id).await?.ok_or_else(unknown)?;
    // The row stays locked until it is deleted below, so of two exchanges at once only one gets a session.
    let flow = flow_states::lock_by_code(&db, &body.auth_code)
        .await?
        .filter(|flow| flow.user_id == Some(user_id))
        .ok_or_else(unknown)?;
    check_code(&request.state, &flow, &body.code_verifier)?;
    // The user may have been banned between the callback and this exchange.
    if user.is_banned(request.now()) {
        return Err(AuthError::BannedAtSignIn);
    }
    flow_states::delete(&db, flow.id).await?;
    let traits = json!({ "provider_type": flow.provider_type });
    accounts::log_user_action(request, &db, &user, Action::Login, traits).await?;
    // Only a sign-in by SAML has stored an end of its session.
    let not_after = saml::take_session_end(&db, flow.id).await?;
    let tokens = start_session_until(request, &db, user.id, &flow.method, not_after).await?;
    db.commit().await?;
    Ok(respond_with_extended_session(
        &tokens,
        SessionExtra {
            provider_token: flow.provider_access_token,
            provider_refresh_token: flow.provider_refresh_token,
            ..SessionExtra::default()
        },
    ))
}

/// Checks the age of the code and the verifier against the stored challenge (RFC 7636 §4.6).
///
/// # Errors
/// 422 `flow_state_expired`, 400 `bad_code_verifier`.
fn check_code(state: &AuthState, flow: &FlowState, verifier: &str) -> Result<(), AuthError> {
    if flow
        .issued_at
        // The life counts from the moment the code was issued, not from the request: a mail may be opened much later.
        .is_none_or(|issued_at| state.now() - issued_at > CODE_LIFETIME)
    {
        return Err(AuthError::FlowStateExpired);
    }
    if !flow
        .challenge
        .as_ref()
        .is_some_and(|challenge| challenge.is_met_by(verifier))
    {
        return Err(AuthError::BadCodeVerifier);
    }
    Ok(())
}
