//! `/passkeys/authentication`: signs in with a passkey; the browser knows whose it is. Source: Auth contract §2.13.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::json;

use super::passkey_registration::{CeremonyBody, failed, take};
use crate::accounts;
use crate::captcha::{self, Captcha};
use crate::error::AuthError;
use crate::limits::Limited;
use crate::mfa;
use crate::request::{Json, OptionalJson, RequestInfo};
use crate::rules::webauthn::{self, Ceremony, WebauthnError};
use crate::sign_in::start_session;
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::{passkeys, users};
use crate::user::User;

/// What a client sends at first.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct OptionsBody {
    gotrue_meta_security: Captcha,
}

/// `POST /passkeys/authentication/options` → `{challenge_id, options, expires_at}`
pub(crate) async fn options(
    state: web::Data<AuthState>,
    info: RequestInfo,
    OptionalJson(body): OptionalJson<OptionsBody>,
) -> Result<HttpResponse, AuthError> {
    info.limit(&state, Limited::Passkey)?;
    captcha::check(&state, &info, &body.gotrue_meta_security).await?;
    let ceremony = Ceremony::new(mfa::relying_party(&state, None));
    let now = state.now();
    let expires_at = now + state.config.mfa.challenge_expiry;
    let client = state.client().await?;
    let id = passkeys::insert_challenge(&client, None, &json!(ceremony), now, expires_at).await?;
    Ok(HttpResponse::Ok().json(json!({
        "challenge_id": id,
        "options": ceremony.request_options(&[]),
        "expires_at": expires_at.timestamp(),
    })))
}

/// `POST /passkeys/authentication/verify` `{challenge_id, credential}` → a session.
pub(crate) async fn verify(
    state: web::Data<AuthState>,
    info: RequestInfo,
    Json(body): Json<CeremonyBody>,
) -> Result<HttpResponse, AuthError> {
    info.limit(&state, Limited::Passkey)?;
    let ceremony = take(&state, None, &body).await?;
    let id = webauthn::id_of(&body.credential).map_err(failed)?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let passkey = passkeys::lock_by_credential(&db, &id)
        .await?
        .ok_or_else(|| failed(WebauthnError::OtherCredential))?;
    if webauthn::user_of(&body.credential) != Some(passkey.user_id) {
        return Err(failed(WebauthnError::OtherCredential));
    }
    let moved = ceremony
        .authenticate(&body.credential, &passkey.credential)
        .map_err(failed)?;
    let user = users::find_by_id(&db, passkey.user_id)
        .await?
        .ok_or_else(|| failed(WebauthnError::OtherCredential))?;
    check_user(&state, &user)?;
    passkeys::touch(&db, passkey.id, &moved, state.now()).await?;
    let traits = json!({ "passkey_id": passkey.id });
    accounts::log_as(&state, &db, &info, Actor::User(&user), Action::Login, traits).await?;
    let tokens = start_session(&state, &db, &info, user.id, "passkey").await?;
    db.commit().await?;
    Ok(tokens.response([]))
}

fn check_user(state: &AuthState, user: &User) -> Result<(), AuthError> {
    if !user.email.is_empty() && !user.is_confirmed() {
        return Err(AuthError::EmailNotConfirmed { status: 403 });
    }
    if !user.phone.is_empty() && !user.is_phone_confirmed() {
        return Err(AuthError::PhoneNotConfirmed { status: 403 });
    }
    if user.is_banned(state.now()) {
        return Err(AuthError::UserBanned);
    }
    Ok(())
}
