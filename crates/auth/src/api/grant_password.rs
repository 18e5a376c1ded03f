//! `POST /token?grant_type=password`. An unknown user costs as much time as a wrong password, so that the timing does
//! not reveal which addresses are registered. Source: Auth contract §2.4, AUTH-001 to AUTH-003, AUTH-098.

use actix_web::HttpResponse;
use serde::Deserialize;
use serde_json::json;

use super::session_response::{SessionExtra, respond_with_extended_session};
use crate::error::AuthError;
use crate::flows::accounts;
use crate::flows::sign_in::start_session;
use crate::hooks;
use crate::protection::captcha::{self, Captcha};
use crate::protection::leaked_passwords;
use crate::request::{AuthRequest, read_text};
use crate::state::AuthState;
use crate::store::audit::Action;
use crate::store::{phones, users};
use crate::user::User;
use crate::validation::address::parse_phone;

/// Body of the grant: `{email, password}` or `{phone, password}`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PasswordBody {
    #[serde(deserialize_with = "read_text")]
    email: String,
    #[serde(deserialize_with = "read_text")]
    phone: String,
    #[serde(deserialize_with = "read_text")]
    password: String,
    gotrue_meta_security: Captcha,
}

/// `POST /token?grant_type=password` → 200 with a session and `weak_password`.
///
/// # Errors
/// 400 `validation_failed` unless exactly one address is given, `captcha_failed`, `invalid_credentials` (unknown
/// user, no password or wrong password), `user_banned`, `email_not_confirmed` or `phone_not_confirmed`; 422
/// `email_provider_disabled` or `phone_provider_disabled`; 429 `over_request_rate_limit`.
pub(crate) async fn sign_in_with_password(
    request: &AuthRequest,
    body: PasswordBody,
) -> Result<HttpResponse, AuthError> {
    captcha::check_captcha(request, &body.gotrue_meta_security).await?;
    check_body(&request.state, &body)?;
    let user = verify_password(request, &body).await?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    // The password may have been changed while it was verified, and then its change has ended all sessions.
    let locked = users::lock_by_id(&db, user.id).await?;
    let is_same = |now: &User| now.encrypted_password == user.encrypted_password;
    let user = locked.filter(is_same).ok_or(AuthError::InvalidCredentials)?;
    let provider = if body.email.is_empty() { "phone" } else { "email" };
    let traits = json!({ "provider": provider });
    accounts::log_user_action(request, &db, &user, Action::Login, traits).await?;
    let tokens = start_session(request, &db, user.id, "password").await?;
    db.commit().await?;
    // An accepted password that no longer meets the rules is reported, not refused.
    let weak_password = leaked_passwords::find_weakness(&request.state, &body.password).await;
    Ok(respond_with_extended_session(
        &tokens,
        SessionExtra {
            weak_password: Some(weak_password),
            ..SessionExtra::default()
        },
    ))
}

/// Refuses a body without exactly one address, or with one of a kind that is disabled.
///
/// # Errors
/// 400 `validation_failed`, 422 `email_provider_disabled` or `phone_provider_disabled`.
fn check_body(state: &AuthState, body: &PasswordBody) -> Result<(), AuthError> {
    match (body.email.is_empty(), body.phone.is_empty()) {
        (false, false) => Err(AuthError::invalid(
            "Only an email address or phone number should be provided on login.",
        )),
        (true, true) => Err(AuthError::invalid("missing email or phone")),
        (true, false) if !state.config.phone.enabled => Err(AuthError::PhoneProviderDisabled {
            status: 422,
            text: "Phone logins are disabled",
        }),
        (false, true) if !state.config.email.enabled => Err(AuthError::EmailProviderDisabled {
            status: 422,
            text: "Email logins are disabled",
        }),
        _ => Ok(()),
    }
}

/// The user, if the password is right and the address confirmed. The connection is returned before hashing, which may
/// wait in a queue.
///
/// # Errors
/// 400 `invalid_credentials`, `user_banned`, `email_not_confirmed` or `phone_not_confirmed`.
async fn verify_password(request: &AuthRequest, body: &PasswordBody) -> Result<User, AuthError> {
    let found = {
        let client = request.connect().await?;
        if body.phone.is_empty() {
            users::find_by_email(&client, &body.email.to_lowercase(), &request.info.audience).await?
        } else {
            match parse_phone(&body.phone) {
                Ok(phone) => phones::find_by_phone(&client, &phone, &request.info.audience).await?,
                Err(_) => None,
            }
        }
    };
    let Some(user) = found.filter(|user| !user.encrypted_password.is_empty()) else {
        // Hashes against a dummy, so that the response takes as long as for a registered user.
        request.state.hasher.verify_dummy(&body.password).await?;
        return Err(AuthError::InvalidCredentials);
    };
    if user.is_banned(request.now()) {
        return Err(AuthError::BannedAtSignIn);
    }
    let is_right = request
        .state
        .hasher
        .verify(&body.password, &user.encrypted_password)
        .await?;
    hooks::report_password_attempt(request, user.id, is_right).await?;
    if !is_right {
        return Err(AuthError::InvalidCredentials);
    }
    // Checked after the password: before it, the error would reveal that the address is registered.
    if body.phone.is_empty() && !user.is_confirmed() {
        return Err(AuthError::EmailNotConfirmed { status: 400 });
    }
    if !body.phone.is_empty() && !user.is_phone_confirmed() {
        return Err(AuthError::PhoneNotConfirmed { status: 400 });
    }
    Ok(user)
}
