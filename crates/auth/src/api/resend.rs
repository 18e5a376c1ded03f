//! `POST /resend`: the confirmation of a sign-up or of an e-mail change again, with a new code. `{}` also where there is nothing
//! to send. Source: AUTH-069.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::json;

use crate::accounts;
use crate::captcha::{self, Captcha};
use crate::error::AuthError;
use crate::letters;
use crate::limits::Limited;
use crate::pace;
use crate::request::{Json, RequestInfo, text};
use crate::rules::address::{parse_email, parse_phone};
use crate::rules::pkce::CodeChallenge;
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::{phones, users};
use crate::text_messages::{self, Channel, CodePurpose};

/// What a client sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ResendBody {
    #[serde(rename = "type", deserialize_with = "text")]
    kind: String,
    #[serde(deserialize_with = "text")]
    email: String,
    #[serde(deserialize_with = "text")]
    phone: String,
    #[serde(deserialize_with = "text")]
    code_challenge: String,
    #[serde(deserialize_with = "text")]
    code_challenge_method: String,
    gotrue_meta_security: Captcha,
}

/// `POST /resend`
pub(crate) async fn resend(
    state: web::Data<AuthState>,
    info: RequestInfo,
    Json(body): Json<ResendBody>,
) -> Result<HttpResponse, AuthError> {
    info.limit(&state, Limited::Resend)?;
    captcha::check(&state, &info, &body.gotrue_meta_security).await?;
    if matches!(body.kind.as_str(), "sms" | "phone_change") {
        return pace::evenly(resend_text(&state, &info, &body)).await;
    }
    let email = check(&state, &body)?;
    let challenge = CodeChallenge::parse(&body.code_challenge, &body.code_challenge_method)?;
    pace::evenly(resend_mail(&state, &info, &body, (&email, challenge.as_ref()))).await
}

/// Mails what is pending for the address again, if something is.
async fn resend_mail(
    state: &AuthState,
    info: &RequestInfo,
    body: &ResendBody,
    (email, challenge): (&str, Option<&CodeChallenge>),
) -> Result<HttpResponse, AuthError> {
    let _slot = state.mail_slot().await?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let Some(user) = users::find_by_email(&db, email, &info.audience).await? else {
        check_unknown(state, &body.kind, email)?;
        return Ok(HttpResponse::Ok().json(json!({})));
    };
    let user = users::lock_by_id(&db, user.id).await?.unwrap_or(user);
    if body.kind == "signup" && !user.is_confirmed() {
        accounts::log(
            state,
            &db,
            info,
            Actor::User(&user),
            Action::ConfirmationRequested,
        )
        .await?;
        letters::send_confirmation(state, &db, info, &user, challenge).await?;
    } else if body.kind == "email_change" && !user.email_change.is_empty() {
        let new_email = user.email_change.clone();
        letters::send_email_change(state, &db, info, &user, &new_email, challenge).await?;
    } else {
        check_unknown(state, &body.kind, email)?;
    }
    db.commit().await?;
    Ok(HttpResponse::Ok().json(json!({})))
}

/// Refuses a second question within the pause as if somebody had the address. A change is different: that none is pending says
/// nothing about whose the address is, and clients expect `{}` however often they ask.
fn check_unknown(state: &AuthState, kind: &str, address: &str) -> Result<(), AuthError> {
    match kind {
        "signup" => state.limits.check_unknown_address(Limited::Resend, address),
        "sms" => state.limits.check_unknown_phone(Limited::Resend, address),
        _ => Ok(()),
    }
}

/// The address, if type and addresses fit together.
fn check(state: &AuthState, body: &ResendBody) -> Result<String, AuthError> {
    match body.kind.as_str() {
        "signup" | "email_change" => {
            if body.email.is_empty() {
                return Err(AuthError::invalid("Type provided requires an email address"));
            }
            if !body.phone.is_empty() {
                return Err(AuthError::invalid(
                    "Only an email address or phone number should be provided.",
                ));
            }
            if !state.config.email.enabled {
                return Err(AuthError::EmailProviderDisabled {
                    status: 400,
                    text: "Email logins are disabled",
                });
            }
            parse_email(&body.email)
        }
        _ => Err(AuthError::invalid(
            "Missing one of these types: signup, email_change, sms, phone_change",
        )),
    }
}

/// Sends a code by text message again → `{message_id?}`.
async fn resend_text(
    state: &AuthState,
    info: &RequestInfo,
    body: &ResendBody,
) -> Result<HttpResponse, AuthError> {
    if body.phone.is_empty() {
        return Err(AuthError::invalid("Type provided requires a phone number"));
    }
    if !body.email.is_empty() {
        return Err(AuthError::invalid(
            "Only an email address or phone number should be provided.",
        ));
    }
    if !state.config.phone.enabled {
        return Err(AuthError::PhoneProviderDisabled {
            status: 400,
            text: "Phone logins are disabled",
        });
    }
    let phone = parse_phone(&body.phone)?;
    let _slot = state.mail_slot().await?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let found = phones::find_by_phone(&db, &phone, &info.audience).await?;
    let user = match found {
        Some(user) => users::lock_by_id(&db, user.id).await?,
        None => None,
    };
    let wanted = user.filter(|user| match body.kind.as_str() {
        "sms" => !user.is_phone_confirmed(),
        _ => !user.phone_change.is_empty(),
    });
    let Some(user) = wanted else {
        check_unknown(state, &body.kind, &phone)?;
        return Ok(HttpResponse::Ok().json(json!({})));
    };
    accounts::log(state, &db, info, Actor::User(&user), Action::RecoveryRequested).await?;
    let (to, purpose) = match body.kind.as_str() {
        "sms" => (phone.as_str(), CodePurpose::Confirmation),
        _ => (user.phone_change.as_str(), CodePurpose::PhoneChange),
    };
    let message_id = text_messages::send_code(state, &db, info, &user, to, purpose, Channel::Sms).await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(message_id.map_or_else(|| json!({}), |id| json!({ "message_id": id }))))
}
