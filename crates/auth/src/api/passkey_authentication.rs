//! `/passkeys/authentication`: signs in with a passkey. The request names no user: the browser offers the
//! passkeys that it has for this site, and the credential identifies the user. Source: Auth contract §2.13.

use actix_web::HttpResponse;
use serde::Deserialize;
use serde_json::json;

use super::passkey_registration::{CeremonyBody, reject_credential, take_ceremony};
use super::response_bodies::PasskeyOptionsBody;
use super::session_response::respond_with_session;
use crate::crypto::webauthn::{self, Ceremony, WebauthnError};
use crate::error::AuthError;
use crate::flows::accounts;
use crate::flows::mfa;
use crate::flows::sign_in::start_session;
use crate::protection::captcha::{self, Captcha};
use crate::request::{AuthRequest, Json, OptionalJson};
use crate::state::rate_limits::LimitedEndpoint;
use crate::store::audit::{Action, Actor};
use crate::store::{passkeys, users};

/// Body of `POST /passkeys/authentication/options`; every field is optional.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct OptionsBody {
    gotrue_meta_security: Captcha,
}

/// `POST /passkeys/authentication/options` → 200 `{challenge_id, options, expires_at}`. `options` lists no
/// credentials, so the response does not reveal who has a passkey.
///
/// # Errors
/// 404 `passkey_disabled`, 400 `captcha_failed`, 429 `over_request_rate_limit`.
pub(crate) async fn create_authentication_options(
    request: AuthRequest,
    OptionalJson(body): OptionalJson<OptionsBody>,
) -> Result<HttpResponse, AuthError> {
    request.check_rate_limit(LimitedEndpoint::Passkey)?;
    captcha::check_captcha(&request, &body.gotrue_meta_security).await?;
    let ceremony = Ceremony::new(mfa::choose_relying_party(&request.state, None));
    let now = request.now();
    let expires_at = now + request.config().mfa.challenge_expiry;
    let client = request.connect().await?;
    let id = passkeys::insert_challenge(&client, None, &json!(ceremony), now, expires_at).await?;
    Ok(HttpResponse::Ok().json(PasskeyOptionsBody {
        challenge_id: id,
        options: ceremony.build_request_options(&[]),
        expires_at: expires_at.timestamp(),
    }))
}

/// `POST /passkeys/authentication/verify` `{challenge_id, credential}` → 200 with a session, with `amr` `passkey`.
///
/// # Errors
/// 404 `passkey_disabled`; 400 `validation_failed`, `webauthn_challenge_not_found`, `webauthn_challenge_expired` or
/// `webauthn_verification_failed` (also for an unknown credential); 403 `user_banned`; 429
/// `over_request_rate_limit`.
pub(crate) async fn verify_authentication(
    request: AuthRequest,
    Json(body): Json<CeremonyBody>,
) -> Result<HttpResponse, AuthError> {
    request.check_rate_limit(LimitedEndpoint::Passkey)?;
    let ceremony = take_ceremony(&request.state, None, &body).await?;
    let id = webauthn::read_credential_id(&body.credential).map_err(reject_credential)?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let unknown = || reject_credential(WebauthnError::OtherCredential);
    // WebAuthn §7.2: for a discoverable credential the user handle must name the owner of the credential.
    let handle = webauthn::read_user_handle(&body.credential).ok_or_else(unknown)?;
    // The user is locked before the passkey, in the order of a deletion.
    let user = users::lock_by_id(&db, handle).await?.ok_or_else(unknown)?;
    // The lock orders concurrent sign-ins, so that the stored signature counter only grows.
    let passkey = passkeys::lock_by_credential(&db, &id).await?;
    let passkey = passkey
        .filter(|passkey| passkey.user_id == user.id)
        .ok_or_else(unknown)?;
    let moved = ceremony
        .verify_assertion(&body.credential, &passkey.credential)
        .map_err(reject_credential)?;
    user.may_sign_in(request.now())?;
    passkeys::record_use(&db, passkey.id, &moved, request.now()).await?;
    let traits = json!({ "passkey_id": passkey.id });
    accounts::log_action_with_traits(&request, &db, Actor::User(&user), Action::Login, traits).await?;
    let tokens = start_session(&request, &db, user.id, "passkey").await?;
    db.commit().await?;
    Ok(respond_with_session(&tokens))
}
