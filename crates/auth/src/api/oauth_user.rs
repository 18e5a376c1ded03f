//! What programs learn of a user (`/oauth/userinfo`), and what a user has granted to programs (`/user/oauth/grants`).
//!
//! Source: Auth contract §2.16, AUTH-099.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::oauth_clients::check_enabled;
use super::oauth_token::{has_scope, profile};
use crate::accounts;
use crate::error::AuthError;
use crate::request::{Query, RequestInfo, SignedIn};
use crate::state::AuthState;
use crate::store::audit::Action;
use crate::store::{oauth_authorizations, oauth_clients};
use crate::user::timestamp;

/// `GET /oauth/userinfo`: claims by the scopes of the session.
pub(crate) async fn userinfo(
    state: web::Data<AuthState>,
    caller: SignedIn,
) -> Result<HttpResponse, AuthError> {
    check_enabled(&state)?;
    let user = &caller.user;
    let scopes = match &caller.session {
        Some(session) => {
            let client = state.client().await?;
            let (_, scopes) = oauth_authorizations::find_binding(&client, session.id).await?;
            scopes.unwrap_or_default()
        }
        None => String::new(),
    };
    let mut claims = json!({ "sub": user.id });
    if has_scope(&scopes, "email") {
        if !user.email.is_empty() {
            claims["email"] = json!(user.email);
        }
        if user.email_confirmed_at.is_some() {
            claims["email_verified"] = json!(true);
        }
    }
    if has_scope(&scopes, "profile") {
        for (name, value) in profile(user) {
            claims[name] = value;
        }
        claims["user_metadata"] = user.user_metadata.clone();
    }
    if has_scope(&scopes, "phone") {
        if !user.phone.is_empty() {
            claims["phone"] = json!(user.phone);
        }
        if user.phone_confirmed_at.is_some() {
            claims["phone_verified"] = json!(true);
        }
    }
    Ok(HttpResponse::Ok()
        .insert_header(("Cache-Control", "no-store"))
        .json(claims))
}

/// `GET /user/oauth/grants`
pub(crate) async fn list_grants(
    state: web::Data<AuthState>,
    caller: SignedIn,
) -> Result<HttpResponse, AuthError> {
    check_enabled(&state)?;
    let client = state.client().await?;
    let mut grants = Vec::new();
    for grant in oauth_authorizations::list_consents(&client, caller.user.id).await? {
        if let Some(program) = oauth_clients::find_by_id(&client, grant.client_id).await? {
            grants.push(json!({
                "client": program.details(),
                "scopes": grant.scopes,
                "granted_at": timestamp(grant.granted_at),
            }));
        }
    }
    Ok(HttpResponse::Ok().json(grants))
}

/// The query of a revocation.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RevokeQuery {
    client_id: String,
}

/// `DELETE /user/oauth/grants?client_id=` → 204: the program's sessions end at once.
pub(crate) async fn revoke_grant(
    state: web::Data<AuthState>,
    caller: SignedIn,
    info: RequestInfo,
    query: Query<RevokeQuery>,
) -> Result<HttpResponse, AuthError> {
    check_enabled(&state)?;
    if query.client_id.is_empty() {
        return Err(AuthError::invalid("client_id query parameter is required"));
    }
    let client_id: Uuid = query
        .client_id
        .parse()
        .map_err(|_| AuthError::invalid("invalid client_id format"))?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    if !oauth_authorizations::revoke(&db, caller.user.id, client_id, state.now()).await? {
        return Err(AuthError::FeatureOff {
            status: 404,
            code: "oauth_consent_not_found",
            text: "No active grant found for this client",
        });
    }
    let traits = json!({ "oauth_client_id": client_id, "action": "revoke_oauth_grant" });
    accounts::log_with(&state, &db, &info, &caller.user, Action::TokenRevoked, traits).await?;
    db.commit().await?;
    Ok(HttpResponse::NoContent().finish())
}
