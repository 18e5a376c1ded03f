//! `POST /token?grant_type=password`. An unknown user costs as much time as a wrong password. Source: AUTH-001 to AUTH-003,
//! AUTH-098.

use actix_web::HttpResponse;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::accounts;
use crate::captcha::{self, Captcha};
use crate::error::AuthError;
use crate::hooks;
use crate::leaked_passwords;
use crate::request::{RequestInfo, text};
use crate::rules::address::parse_phone;
use crate::sign_in::start_session;
use crate::state::AuthState;
use crate::store::audit::Action;
use crate::store::{phones, users};
use crate::user::User;

/// What a client sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PasswordBody {
    #[serde(deserialize_with = "text")]
    email: String,
    #[serde(deserialize_with = "text")]
    phone: String,
    #[serde(deserialize_with = "text")]
    password: String,
    gotrue_meta_security: Captcha,
}

pub(crate) async fn grant(
    state: &AuthState,
    info: &RequestInfo,
    body: PasswordBody,
) -> Result<HttpResponse, AuthError> {
    captcha::check(state, info, &body.gotrue_meta_security).await?;
    check(state, &body)?;
    let user = verify(state, info, &body).await?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let provider = if body.email.is_empty() { "phone" } else { "email" };
    let traits = json!({ "provider": provider });
    accounts::log_with(state, &db, info, &user, Action::Login, traits).await?;
    let tokens = start_session(state, &db, info, user.id, "password").await?;
    db.commit().await?;
    Ok(tokens.response([("weak_password", weakness(state, &body.password).await)]))
}

fn check(state: &AuthState, body: &PasswordBody) -> Result<(), AuthError> {
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

/// The user, if the password is right. The connection is given back before the hashing starts.
async fn verify(state: &AuthState, info: &RequestInfo, body: &PasswordBody) -> Result<User, AuthError> {
    let found = {
        let client = state.client().await?;
        if body.phone.is_empty() {
            users::find_by_email(&client, &body.email.to_lowercase(), &info.audience).await?
        } else {
            match parse_phone(&body.phone) {
                Ok(phone) => phones::find_by_phone(&client, &phone, &info.audience).await?,
                Err(_) => None,
            }
        }
    };
    let Some(user) = found.filter(|user| !user.encrypted_password.is_empty()) else {
        state.hasher.verify_nobody(&body.password).await?;
        return Err(AuthError::InvalidCredentials);
    };
    if user.is_banned(state.now()) {
        return Err(AuthError::BannedAtSignIn);
    }
    let is_right = state
        .hasher
        .verify(&body.password, &user.encrypted_password)
        .await?;
    hooks::password_attempted(state, info, user.id, is_right).await?;
    if !is_right {
        return Err(AuthError::InvalidCredentials);
    }
    if body.phone.is_empty() && !user.is_confirmed() {
        return Err(AuthError::EmailNotConfirmed { status: 400 });
    }
    if !body.phone.is_empty() && !user.is_phone_confirmed() {
        return Err(AuthError::PhoneNotConfirmed { status: 400 });
    }
    Ok(user)
}

/// An accepted password that no longer meets the rules is reported, not refused.
async fn weakness(state: &AuthState, password: &str) -> Value {
    match leaked_passwords::judge(state, password).await {
        None => Value::Null,
        Some(weak) => {
            let reasons: Vec<&str> = weak.reasons.iter().map(|reason| reason.as_str()).collect();
            json!({ "message": weak.message, "reasons": reasons })
        }
    }
}
