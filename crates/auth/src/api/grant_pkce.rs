//! `POST /token?grant_type=pkce`: exchanges the code of a finished flow, once. Source: AUTH-046 to AUTH-048.

use actix_web::HttpResponse;
use chrono::TimeDelta;
use serde::Deserialize;
use serde_json::json;

use crate::accounts;
use crate::error::AuthError;
use crate::request::{RequestInfo, text};
use crate::sign_in::start_session;
use crate::state::AuthState;
use crate::store::audit::Action;
use crate::store::flow_states::{self, FlowState};
use crate::store::users;

/// Life of a code.
const FLOW_LIFE: TimeDelta = TimeDelta::seconds(300);

/// What a client sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PkceBody {
    #[serde(deserialize_with = "text")]
    auth_code: String,
    #[serde(deserialize_with = "text")]
    code_verifier: String,
}

pub(crate) async fn grant(
    state: &AuthState,
    info: &RequestInfo,
    body: PkceBody,
) -> Result<HttpResponse, AuthError> {
    if body.auth_code.is_empty() || body.code_verifier.is_empty() {
        return Err(AuthError::invalid(
            "invalid request: both auth code and code verifier should be non-empty",
        ));
    }
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let unknown = || AuthError::FlowStateNotFound { status: 404 };
    let flow = flow_states::lock_by_code(&db, &body.auth_code)
        .await?
        .ok_or_else(unknown)?;
    let user_id = flow.user_id.ok_or_else(unknown)?;
    check(state, &flow, &body.code_verifier)?;
    let user = users::find_by_id(&db, user_id).await?.ok_or_else(unknown)?;
    if user.is_banned(state.now()) {
        return Err(AuthError::BannedAtSignIn);
    }
    flow_states::delete(&db, flow.id).await?;
    let traits = json!({ "provider_type": flow.provider_type });
    accounts::log_with(state, &db, info, &user, Action::Login, traits).await?;
    let tokens = start_session(state, &db, info, user.id, &flow.method).await?;
    db.commit().await?;
    let provider_tokens = [
        ("provider_token", flow.provider_access_token),
        ("provider_refresh_token", flow.provider_refresh_token),
    ];
    Ok(tokens.response(
        provider_tokens
            .into_iter()
            .filter_map(|(name, token)| Some((name, json!(token?)))),
    ))
}

fn check(state: &AuthState, flow: &FlowState, verifier: &str) -> Result<(), AuthError> {
    if flow
        .issued_at
        .is_none_or(|issued_at| state.now() - issued_at > FLOW_LIFE)
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
