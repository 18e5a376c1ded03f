//! `POST /resend`: sends the confirmation of a sign-up or of an address change again, with a new code.
//!
//! Responds `{}` also where there is nothing to send, so that the response does not reveal whether an address is
//! registered. Source: Auth contract §2.7, AUTH-069.

use actix_web::HttpResponse;
use deadpool_postgres::GenericClient;
use serde::Deserialize;

use super::response_bodies::{EmptyBody, MessageBody};
use crate::crypto::pkce::CodeChallenge;
use crate::error::AuthError;
use crate::flows::accounts;
use crate::flows::unanswered_requests::{Recipient, count_unanswered, note_unanswered};
use crate::mailer;
use crate::protection::captcha::{self, Captcha};
use crate::protection::constant_time;
use crate::request::{AuthRequest, Json, read_text};
use crate::sms::{self, Channel, CodePurpose, TextCode};
use crate::state::AuthState;
use crate::state::rate_limits::LimitedEndpoint;
use crate::store::audit::{Action, Actor};
use crate::store::{phones, users};
use crate::validation::address::{parse_email, parse_phone};

/// Body of `POST /resend`: `{type, email}` with `signup` or `email_change`, or `{type, phone}` with `sms` or
/// `phone_change`. `email` is the user's current address, also for `email_change`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ResendBody {
    #[serde(rename = "type", deserialize_with = "read_text")]
    kind: String,
    #[serde(deserialize_with = "read_text")]
    email: String,
    #[serde(deserialize_with = "read_text")]
    phone: String,
    #[serde(deserialize_with = "read_text")]
    code_challenge: String,
    #[serde(deserialize_with = "read_text")]
    code_challenge_method: String,
    gotrue_meta_security: Captcha,
}

/// `POST /resend?redirect_to=` → 200 `{}`, for text messages `{message_id?}`.
///
/// # Errors
/// 400 `validation_failed` for another type or unless exactly one address is given, `captcha_failed`,
/// `email_provider_disabled` or `phone_provider_disabled`; 429 `over_request_rate_limit`,
/// `over_email_send_rate_limit` or `over_sms_send_rate_limit`.
pub(crate) async fn resend_confirmation(
    request: AuthRequest,
    Json(body): Json<ResendBody>,
) -> Result<HttpResponse, AuthError> {
    request.check_rate_limit(LimitedEndpoint::Resend)?;
    captcha::check_captcha(&request, &body.gotrue_meta_security).await?;
    if matches!(body.kind.as_str(), "sms" | "phone_change") {
        return constant_time::delay_to_full_interval(resend_text(&request, &body)).await;
    }
    let email = check_mail_request(&request.state, &body)?;
    let challenge = CodeChallenge::parse(&body.code_challenge, &body.code_challenge_method)?;
    constant_time::delay_to_full_interval(resend_mail(&request, &body, (&email, challenge.as_ref()))).await
}

/// Sends the mail of the pending confirmation again, if there is one. The transaction keeps token and mail
/// consistent.
async fn resend_mail(
    request: &AuthRequest,
    body: &ResendBody,
    (email, challenge): (&str, Option<&CodeChallenge>),
) -> Result<HttpResponse, AuthError> {
    let _slot = request.state.acquire_mail_slot().await?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let Some(user) = users::find_by_email(&db, email, &request.info.audience).await? else {
        count_request_for_nothing(request, &db, &body.kind, Recipient::Email(email)).await?;
        db.commit().await?;
        return Ok(HttpResponse::Ok().json(EmptyBody {}));
    };
    let user = users::lock_by_id(&db, user.id).await?.unwrap_or(user);
    if body.kind == "signup" && !user.is_confirmed() && !user.only_claims_email() {
        accounts::log_action(request, &db, Actor::User(&user), Action::ConfirmationRequested).await?;
        mailer::send_confirmation(request, &db, &user, challenge).await?;
    } else if body.kind == "email_change" && !user.email_change.is_empty() {
        // With secure e-mail change both addresses get a new mail.
        let new_email = user.email_change.clone();
        mailer::send_email_change(request, &db, &user, &new_email, challenge).await?;
    } else {
        count_request_for_nothing(request, &db, &body.kind, Recipient::Email(email)).await?;
    }
    db.commit().await?;
    Ok(HttpResponse::Ok().json(EmptyBody {}))
}

/// Limits and notes a request that sends nothing like one that does; otherwise a 429 would reveal that the address is registered. Address
/// changes are not limited: that none is pending says nothing about registration.
///
/// # Errors
/// 429 `over_email_send_rate_limit` or `over_sms_send_rate_limit`.
async fn count_request_for_nothing(
    request: &AuthRequest,
    db: &impl GenericClient,
    kind: &str,
    recipient: Recipient<'_>,
) -> Result<(), AuthError> {
    match kind {
        "signup" | "sms" => count_unanswered(request, db, LimitedEndpoint::Resend, recipient).await,
        _ => note_unanswered(request, db, recipient).await,
    }
}

/// Checks a request for a mail; returns the address in its stored form.
///
/// # Errors
/// 400 `validation_failed` or `email_provider_disabled`.
fn check_mail_request(state: &AuthState, body: &ResendBody) -> Result<String, AuthError> {
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

/// Checks a request for a text message; returns the number in its stored form.
///
/// # Errors
/// 400 `validation_failed` or `phone_provider_disabled`.
fn check_text_request(state: &AuthState, body: &ResendBody) -> Result<String, AuthError> {
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
    parse_phone(&body.phone)
}

/// Sends the code of a pending confirmation by text message again → `{message_id?}`.
async fn resend_text(request: &AuthRequest, body: &ResendBody) -> Result<HttpResponse, AuthError> {
    let phone = check_text_request(&request.state, body)?;
    let _slot = request.state.acquire_mail_slot().await?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let found = phones::find_by_phone(&db, &phone, &request.info.audience).await?;
    let user = match found {
        Some(user) => users::lock_by_id(&db, user.id).await?,
        None => None,
    };
    let wanted = user.filter(|user| match body.kind.as_str() {
        "sms" => !user.is_phone_confirmed() && !user.only_claims_phone(),
        _ => !user.phone_change.is_empty(),
    });
    let Some(user) = wanted else {
        count_request_for_nothing(request, &db, &body.kind, Recipient::Phone(&phone)).await?;
        db.commit().await?;
        return Ok(HttpResponse::Ok().json(EmptyBody {}));
    };
    // Compat: upstream logs a repeated text message as a recovery, too.
    accounts::log_action(request, &db, Actor::User(&user), Action::RecoveryRequested).await?;
    let (to, purpose) = match body.kind.as_str() {
        "sms" => (phone.as_str(), CodePurpose::Confirmation),
        _ => (user.phone_change.as_str(), CodePurpose::PhoneChange),
    };
    let message_id = sms::send_code(
        request,
        &db,
        &user,
        TextCode {
            phone: to,
            purpose,
            channel: Channel::Sms,
        },
    )
    .await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(MessageBody { message_id }))
}
