//! `GET /oauth/userinfo`: the claims about a user that a client of the OAuth server may read; `/user/oauth/grants`:
//! what a user has granted to clients, and its revocation.
//!
//! Source: Auth contract §2.16, AUTH-099.

use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::oauth_token::{ProfileClaims, has_scope};
use super::response_bodies::ConsentClientBody;
use crate::error::{AuthError, OauthServerError};
use crate::feature_gates::check_oauth_server;
use crate::flows::accounts;
use crate::flows::locked_caller::lock_caller;
use crate::request::{AnySession, AuthRequest, Query, SignedIn};
use crate::state::AuthState;
use crate::store::audit::Action;
use crate::store::{oauth_authorizations, oauth_clients};
use crate::user::format_timestamp;

/// `GET /oauth/userinfo` → 200 with [`UserinfoClaims`] (OpenID Connect Core §5.3). A session without scopes gets
/// `sub` only.
///
/// # Errors
/// 404 `feature_disabled`, and those of [`AnySession`].
pub(crate) async fn get_userinfo(
    state: web::Data<AuthState>,
    AnySession(caller): AnySession,
) -> Result<HttpResponse, AuthError> {
    check_oauth_server(&state)?;
    let user = &caller.user;
    let scopes = match &caller.session {
        Some(session) => {
            let client = state.connect().await?;
            let (_, scopes) = oauth_authorizations::find_session_client(&client, session.id).await?;
            scopes.unwrap_or_default()
        }
        None => String::new(),
    };
    let shows_email = has_scope(&scopes, "email");
    let shows_profile = has_scope(&scopes, "profile");
    let shows_phone = has_scope(&scopes, "phone");
    let claims = UserinfoClaims {
        sub: user.id,
        email: user.confirmed_email().filter(|_| shows_email),
        email_verified: (shows_email && user.is_confirmed()).then_some(true),
        profile: match shows_profile {
            true => ProfileClaims::from_user(user),
            false => ProfileClaims::default(),
        },
        user_metadata: shows_profile.then_some(&user.user_metadata),
        phone: user.confirmed_phone().filter(|_| shows_phone),
        phone_verified: (shows_phone && user.is_phone_confirmed()).then_some(true),
    };
    Ok(HttpResponse::Ok()
        .insert_header(("Cache-Control", "no-store"))
        .json(claims))
}

/// Body of the response; claims outside the granted scopes are left out, and so are addresses that nobody has confirmed: clients
/// find the accounts of their users by them. Compat: the members are `phone` and
/// `phone_verified` here, while ID tokens say `phone_number` and `phone_number_verified`.
#[derive(Serialize)]
struct UserinfoClaims<'a> {
    sub: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email_verified: Option<bool>,
    #[serde(flatten)]
    profile: ProfileClaims<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_metadata: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone_verified: Option<bool>,
}

/// One consent of the list: `client` is `{id, name, uri, logo_uri}`, `granted_at` RFC 3339.
#[derive(Serialize)]
struct GrantBody<'a> {
    client: ConsentClientBody<'a>,
    scopes: &'a [String],
    granted_at: String,
}

/// `GET /user/oauth/grants` → 200 with an array of [`GrantBody`]; deleted clients are left out.
///
/// # Errors
/// 404 `feature_disabled`.
pub(crate) async fn list_grants(
    state: web::Data<AuthState>,
    caller: SignedIn,
) -> Result<HttpResponse, AuthError> {
    check_oauth_server(&state)?;
    let client = state.connect().await?;
    let mut grants = Vec::new();
    for consent in oauth_authorizations::list_consents(&client, caller.user.id).await? {
        if let Some(oauth_client) = oauth_clients::find_by_id(&client, consent.client_id).await? {
            grants.push((consent, oauth_client));
        }
    }
    let bodies: Vec<GrantBody<'_>> = grants
        .iter()
        .map(|(consent, oauth_client)| GrantBody {
            client: ConsentClientBody::new(oauth_client),
            scopes: &consent.scopes,
            granted_at: format_timestamp(consent.granted_at),
        })
        .collect();
    Ok(HttpResponse::Ok().json(bodies))
}

/// Query of a revocation; `client_id` is required.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RevokeQuery {
    client_id: String,
}

/// `DELETE /user/oauth/grants?client_id=` → 204. The client's sessions of this user end at once.
///
/// # Errors
/// 404 `feature_disabled` or `oauth_consent_not_found`; 400 `validation_failed` for a missing or malformed id.
pub(crate) async fn revoke_grant(
    request: AuthRequest,
    caller: SignedIn,
    query: Query<RevokeQuery>,
) -> Result<HttpResponse, AuthError> {
    check_oauth_server(&request.state)?;
    if query.client_id.is_empty() {
        return Err(AuthError::invalid("client_id query parameter is required"));
    }
    let client_id: Uuid = query
        .client_id
        .parse()
        .map_err(|_| AuthError::invalid("invalid client_id format"))?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    lock_caller(&request, &db, &caller).await?;
    if !oauth_authorizations::revoke_consent(&db, caller.user.id, client_id, request.now()).await? {
        return Err(OauthServerError::ConsentNotFound.into());
    }
    let traits = json!({ "oauth_client_id": client_id, "action": "revoke_oauth_grant" });
    accounts::log_user_action(&request, &db, &caller.user, Action::TokenRevoked, traits).await?;
    db.commit().await?;
    Ok(HttpResponse::NoContent().finish())
}
