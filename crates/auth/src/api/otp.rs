//! `POST /otp` and `POST /magiclink`: sign in without a password, by a mailed link or code, or by a code in a text message.
//!
//! Source: Auth contract §2.5, AUTH-065, AUTH-066.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::accounts::{self, Account};
use crate::captcha::{self, Captcha};
use crate::error::AuthError;
use crate::letters;
use crate::limits::Limited;
use crate::machine::verify::VerifyType;
use crate::pace;
use crate::request::{Json, RequestInfo, metadata, text};
use crate::rules::address::{parse_email, parse_phone};
use crate::rules::pkce::CodeChallenge;
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::{phones, users};
use crate::text_messages::{self, Channel, CodePurpose};

/// What a client sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct OtpBody {
    #[serde(deserialize_with = "text")]
    email: String,
    #[serde(deserialize_with = "text")]
    phone: String,
    create_user: Option<bool>,
    #[serde(deserialize_with = "metadata")]
    data: Map<String, Value>,
    #[serde(deserialize_with = "text")]
    channel: String,
    #[serde(deserialize_with = "text")]
    code_challenge: String,
    #[serde(deserialize_with = "text")]
    code_challenge_method: String,
    gotrue_meta_security: Captcha,
}

/// What it means.
struct Request {
    email: String,
    may_create: bool,
    data: Map<String, Value>,
    challenge: Option<CodeChallenge>,
}

/// `POST /otp`
pub(crate) async fn otp(
    state: web::Data<AuthState>,
    info: RequestInfo,
    Json(body): Json<OtpBody>,
) -> Result<HttpResponse, AuthError> {
    info.limit(&state, Limited::Otp)?;
    captcha::check(&state, &info, &body.gotrue_meta_security).await?;
    match (body.email.is_empty(), body.phone.is_empty()) {
        (true, true) => Err(AuthError::invalid("One of email or phone must be set")),
        (false, false) => Err(AuthError::invalid(
            "Only an email address or phone number should be provided",
        )),
        (true, false) => send_text(&state, &info, body).await,
        (false, true) if !body.channel.is_empty() => Err(AuthError::invalid(
            "Channel should only be specified with Phone OTP",
        )),
        (false, true) => send(&state, &info, body).await,
    }
}

/// `POST /magiclink`: the older form, for e-mail only.
pub(crate) async fn magic_link(
    state: web::Data<AuthState>,
    info: RequestInfo,
    Json(body): Json<OtpBody>,
) -> Result<HttpResponse, AuthError> {
    info.limit(&state, Limited::MagicLink)?;
    captcha::check(&state, &info, &body.gotrue_meta_security).await?;
    if body.email.is_empty() && state.config.email.enabled {
        return Err(AuthError::Unprocessable("Password recovery requires an email"));
    }
    send(
        &state,
        &info,
        OtpBody {
            create_user: None,
            ..body
        },
    )
    .await
}

async fn send(state: &AuthState, info: &RequestInfo, body: OtpBody) -> Result<HttpResponse, AuthError> {
    if !state.config.email.enabled {
        return Err(AuthError::EmailProviderDisabled {
            status: 422,
            text: "Email logins are disabled",
        });
    }
    let request = Request {
        email: parse_email(&body.email)?,
        may_create: body.create_user.unwrap_or(true),
        data: body.data,
        challenge: CodeChallenge::parse(&body.code_challenge, &body.code_challenge_method)?,
    };
    pace::evenly(async {
        match deliver(state, info, &request).await {
            // Somebody else has created the user in between.
            Err(error) if error.is_duplicate_email() => deliver(state, info, &request).await,
            answer => answer,
        }
    })
    .await?;
    Ok(HttpResponse::Ok().json(json!({})))
}

/// A user created here has no password until they choose one: nothing to hash, nothing to guess.
async fn deliver(state: &AuthState, info: &RequestInfo, request: &Request) -> Result<(), AuthError> {
    let _slot = state.mail_slot().await?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let challenge = request.challenge.as_ref();
    let user = match users::find_by_email(&db, &request.email, &info.audience).await? {
        // Compat: who has not confirmed the address is still signing up.
        Some(user) if state.config.disable_signup && !user.is_confirmed() => {
            return Err(AuthError::SignupDisabled);
        }
        Some(user) => users::lock_by_id(&db, user.id).await?.unwrap_or(user),
        None if !request.may_create => return Err(AuthError::OtpDisabled),
        None if state.config.disable_signup => return Err(AuthError::SignupDisabled),
        None => {
            let account = Account {
                email: &request.email,
                data: request.data.clone(),
                ..Account::default()
            };
            accounts::create_user(state, &db, info, account).await?
        }
    };
    if user.is_confirmed() || state.config.email.autoconfirm {
        accounts::log(state, &db, info, Actor::User(&user), Action::RecoveryRequested).await?;
        letters::send_recovery(state, &db, info, &user, VerifyType::MagicLink, challenge).await?;
    } else {
        let (action, traits) = (Action::ConfirmationRequested, json!({ "provider": "email" }));
        accounts::log_with(state, &db, info, &user, action, traits).await?;
        letters::send_confirmation(state, &db, info, &user, challenge).await?;
    }
    Ok(db.commit().await?)
}

/// The same by text message → `{message_id?}`.
async fn send_text(state: &AuthState, info: &RequestInfo, body: OtpBody) -> Result<HttpResponse, AuthError> {
    if !state.config.phone.enabled {
        return Err(AuthError::PhoneProviderDisabled {
            status: 400,
            text: "Unsupported phone provider",
        });
    }
    let phone = parse_phone(&body.phone)?;
    let channel = Channel::parse(&body.channel, state)?;
    let message_id = match deliver_text(state, info, &phone, &body, channel).await {
        Err(error) if error.is_duplicate_phone() => deliver_text(state, info, &phone, &body, channel).await?,
        answer => answer?,
    };
    Ok(HttpResponse::Ok().json(message_id.map_or_else(|| json!({}), |id| json!({ "message_id": id }))))
}

async fn deliver_text(
    state: &AuthState,
    info: &RequestInfo,
    phone: &str,
    body: &OtpBody,
    channel: Channel,
) -> Result<Option<String>, AuthError> {
    let _slot = state.mail_slot().await?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let user = match phones::find_by_phone(&db, phone, &info.audience).await? {
        Some(user) if state.config.disable_signup && !user.is_phone_confirmed() => {
            return Err(AuthError::SignupDisabled);
        }
        Some(user) => users::lock_by_id(&db, user.id).await?.unwrap_or(user),
        None if body.create_user == Some(false) => return Err(AuthError::OtpDisabled),
        None if state.config.disable_signup => return Err(AuthError::SignupDisabled),
        None => {
            let account = Account {
                phone,
                data: body.data.clone(),
                ..Account::default()
            };
            accounts::create_user(state, &db, info, account).await?
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
    accounts::log_with(state, &db, info, &user, action, traits).await?;
    let purpose = CodePurpose::Confirmation;
    let message_id = text_messages::send_code(state, &db, info, &user, phone, purpose, channel).await?;
    db.commit().await?;
    Ok(message_id)
}
