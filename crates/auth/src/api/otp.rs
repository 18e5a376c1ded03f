//! `POST /otp` and `POST /magiclink`: sign-in without a password, by a mailed link or code, or by a code in a text
//! message. The code is verified by `POST /verify`.
//!
//! Source: Auth contract §2.5, AUTH-065, AUTH-066.

use actix_web::HttpResponse;
use deadpool_postgres::Transaction;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::response_bodies::{EmptyBody, MessageBody};
use crate::crypto::pkce::CodeChallenge;
use crate::error::AuthError;
use crate::flows::accounts::{self, Account};
use crate::mailer;
use crate::protection::captcha::{self, Captcha};
use crate::protection::constant_time;
use crate::request::{AuthRequest, Json, read_new_metadata, read_text};
use crate::sms::{self, Channel, CodePurpose, TextCode};
use crate::state::rate_limits::LimitedEndpoint;
use crate::store::audit::{Action, Actor};
use crate::store::{contested_accounts, phones, users};
use crate::user::User;
use crate::validation::address::{parse_email, parse_phone};
use crate::validation::verify_type::VerifyType;

/// Body: `{email}` or `{phone}`, and `create_user` (default true), `data` for the metadata of a new user, `channel`
/// (`sms` or `whatsapp`, phone only) and the PKCE challenge (e-mail only).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct OtpBody {
    #[serde(deserialize_with = "read_text")]
    email: String,
    #[serde(deserialize_with = "read_text")]
    phone: String,
    create_user: Option<bool>,
    #[serde(deserialize_with = "read_new_metadata")]
    data: Map<String, Value>,
    #[serde(deserialize_with = "read_text")]
    channel: String,
    #[serde(deserialize_with = "read_text")]
    code_challenge: String,
    #[serde(deserialize_with = "read_text")]
    code_challenge_method: String,
    gotrue_meta_security: Captcha,
}

/// A request for a mailed link or code, after validation.
struct MailOtp {
    email: String,
    /// Whether an unregistered address is signed up.
    may_create: bool,
    data: Map<String, Value>,
    challenge: Option<CodeChallenge>,
}

/// `POST /otp?redirect_to=` → 200 `{}`, for phones `{message_id?}`.
///
/// # Errors
/// 400 `validation_failed` unless exactly one address is given, `captcha_failed` or `phone_provider_disabled`; 422
/// `email_provider_disabled`, `otp_disabled` for an unregistered address with `create_user: false`, or
/// `signup_disabled`; 429 `over_request_rate_limit`, `over_email_send_rate_limit` or `over_sms_send_rate_limit`.
pub(crate) async fn send_otp(
    request: AuthRequest,
    Json(body): Json<OtpBody>,
) -> Result<HttpResponse, AuthError> {
    request.check_rate_limit(LimitedEndpoint::Otp)?;
    captcha::check_captcha(&request, &body.gotrue_meta_security).await?;
    match (body.email.is_empty(), body.phone.is_empty()) {
        (true, true) => Err(AuthError::invalid("One of email or phone must be set")),
        (false, false) => Err(AuthError::invalid(
            "Only an email address or phone number should be provided",
        )),
        (true, false) => send_text_otp(&request, body).await,
        (false, true) if !body.channel.is_empty() => Err(AuthError::invalid(
            "Channel should only be specified with Phone OTP",
        )),
        (false, true) => send_mail_otp(&request, body).await,
    }
}

/// `POST /magiclink?redirect_to=` → 200 `{}`: the older form of `POST /otp`, for e-mail only. It ignores
/// `create_user`.
///
/// # Errors
/// Those of [`send_otp`], but 422 `validation_failed` without an address.
pub(crate) async fn send_magic_link(
    request: AuthRequest,
    Json(body): Json<OtpBody>,
) -> Result<HttpResponse, AuthError> {
    request.check_rate_limit(LimitedEndpoint::MagicLink)?;
    captcha::check_captcha(&request, &body.gotrue_meta_security).await?;
    if body.email.is_empty() && request.config().email.enabled {
        return Err(AuthError::Unprocessable("Password recovery requires an email"));
    }
    send_mail_otp(
        &request,
        OtpBody {
            create_user: None,
            ..body
        },
    )
    .await
}

/// Validates a request for a mail and delivers it. The response is delayed to a fixed interval, so that its timing
/// does not reveal whether the address is registered.
///
/// # Errors
/// See [`send_otp`].
async fn send_mail_otp(request: &AuthRequest, body: OtpBody) -> Result<HttpResponse, AuthError> {
    if !request.config().email.enabled {
        return Err(AuthError::EmailProviderDisabled {
            status: 422,
            text: "Email logins are disabled",
        });
    }
    let otp = MailOtp {
        email: parse_email(&body.email)?,
        may_create: body.create_user.unwrap_or(true),
        data: body.data,
        challenge: CodeChallenge::parse(&body.code_challenge, &body.code_challenge_method)?,
    };
    constant_time::delay_to_full_interval(async {
        match deliver_mail_otp(request, &otp).await {
            // Another request has created the user in between; the second attempt finds it.
            Err(error) if error.is_duplicate_email() => deliver_mail_otp(request, &otp).await,
            result => result,
        }
    })
    .await?;
    Ok(HttpResponse::Ok().json(EmptyBody {}))
}

/// Mails a magic link to a confirmed user and a confirmation to anybody else, after creating the user if need be. A
/// user created here has no password, so there is nothing to hash.
///
/// # Errors
/// 422 `otp_disabled` or `signup_disabled`, 429 `over_email_send_rate_limit`.
async fn deliver_mail_otp(request: &AuthRequest, otp: &MailOtp) -> Result<(), AuthError> {
    let _slot = request.state.acquire_mail_slot().await?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let challenge = otp.challenge.as_ref();
    let found = users::find_by_email(&db, &otp.email, &request.info.audience).await?;
    // The account of somebody who only claims the address is not given to its owner.
    let user = match found.filter(|user| !user.only_claims_email()) {
        // Compat: a user with an unconfirmed address is still signing up.
        Some(user) if request.config().disable_signup && !user.is_confirmed() => {
            return Err(AuthError::SignupDisabled);
        }
        Some(user) => lock_and_contest(request, &db, user).await?,
        // Compat: this error reveals that the address is not registered; applications that pass `create_user: false`
        // expect it.
        None if !otp.may_create => return Err(AuthError::OtpDisabled),
        None if request.config().disable_signup => return Err(AuthError::SignupDisabled),
        None => {
            let account = Account {
                email: &otp.email,
                data: otp.data.clone(),
                ..Account::default()
            };
            accounts::create_user(request, &db, account).await?
        }
    };
    if user.is_confirmed() || request.config().email.autoconfirm {
        accounts::log_action(request, &db, Actor::User(&user), Action::RecoveryRequested).await?;
        mailer::send_recovery(request, &db, &user, VerifyType::MagicLink, challenge).await?;
    } else {
        let (action, traits) = (Action::ConfirmationRequested, json!({ "provider": "email" }));
        accounts::log_user_action(request, &db, &user, action, traits).await?;
        mailer::send_confirmation(request, &db, &user, challenge).await?;
    }
    Ok(db.commit().await?)
}

/// Locks the user's row. Whoever asks for a code of an unconfirmed account with a password has not given that password, so
/// the account is contested: once confirmed by the code, it has none.
async fn lock_and_contest(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: User,
) -> Result<User, AuthError> {
    let user = users::lock_by_id(db, user.id).await?.unwrap_or(user);
    contested_accounts::contest(db, &user, request.now()).await?;
    Ok(user)
}

/// Validates a request for a text message and delivers it → `{message_id?}`.
///
/// # Errors
/// 400 `phone_provider_disabled` or `validation_failed`, and those of [`deliver_text_otp`].
async fn send_text_otp(request: &AuthRequest, body: OtpBody) -> Result<HttpResponse, AuthError> {
    if !request.config().phone.enabled {
        return Err(AuthError::PhoneProviderDisabled {
            status: 400,
            text: "Unsupported phone provider",
        });
    }
    let phone = parse_phone(&body.phone)?;
    let channel = Channel::parse(&body.channel, &request.state)?;
    let message_id = match deliver_text_otp(request, &phone, &body, channel).await {
        Err(error) if error.is_duplicate_phone() => deliver_text_otp(request, &phone, &body, channel).await?,
        result => result?,
    };
    Ok(HttpResponse::Ok().json(MessageBody { message_id }))
}

/// Sends the code, after creating the user if need be. Returns the message id of the SMS provider, if it gives one.
///
/// # Errors
/// 422 `otp_disabled`, `signup_disabled` or `sms_send_failed`; 429 `over_sms_send_rate_limit`.
async fn deliver_text_otp(
    request: &AuthRequest,
    phone: &str,
    body: &OtpBody,
    channel: Channel,
) -> Result<Option<String>, AuthError> {
    let _slot = request.state.acquire_mail_slot().await?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let user = match phones::find_registered(&db, phone, &request.info.audience).await? {
        Some(user) if request.config().disable_signup && !user.is_phone_confirmed() => {
            return Err(AuthError::SignupDisabled);
        }
        Some(user) => lock_and_contest(request, &db, user).await?,
        None if body.create_user == Some(false) => return Err(AuthError::OtpDisabled),
        None if request.config().disable_signup => return Err(AuthError::SignupDisabled),
        None => {
            let account = Account {
                phone,
                data: body.data.clone(),
                ..Account::default()
            };
            accounts::create_user(request, &db, account).await?
        }
    };
    let action = if user.is_phone_confirmed() {
        Action::RecoveryRequested
    } else {
        Action::ConfirmationRequested
    };
    let traits = match action {
        Action::RecoveryRequested => json!({ "channel": channel.as_str() }),
        _ => json!({ "provider": "phone" }),
    };
    accounts::log_user_action(request, &db, &user, action, traits).await?;
    let purpose = CodePurpose::Confirmation;
    let message_id = sms::send_code(
        request,
        &db,
        &user,
        TextCode {
            phone,
            purpose,
            channel,
        },
    )
    .await?;
    db.commit().await?;
    Ok(message_id)
}
