//! Text messages with one-time codes: each function generates a code, sends it and stores it, hashed.
//!
//! A message is sent inside the request and not queued, because the response contains the provider's message id or
//! error. No message is sent to test numbers (`test_otp`). Source: Auth contract §2.5, §3.4, §7.

use std::time::Duration;

use deadpool_postgres::GenericClient;
use selvedge_mail::{Escape, Template};
use serde_json::{Value, json};

use crate::config::SmsProviderConfig;
use crate::crypto::one_time_code::OneTimeCode;
use crate::error::AuthError;
use crate::hooks::{self, HookPoint};
use crate::request::AuthRequest;
use crate::state::AuthState;
use crate::state::rate_limits::seconds_left;
use crate::store::factors::Factor;
use crate::store::one_time_tokens::{self, SentToken, TokenKind};
use crate::store::{one_time_codes, phones};
use crate::user::User;

mod channel;
mod providers;

pub(crate) use channel::Channel;

/// What the user confirms by typing the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodePurpose {
    /// Sign-up and sign-in.
    Confirmation,
    /// Confirms a change of the phone number.
    PhoneChange,
    /// A change of password in a session older than 24 hours.
    Reauthentication,
}

impl CodePurpose {
    /// The name of the purpose in the message of `sms_send_failed`.
    fn name(self) -> &'static str {
        match self {
            Self::Confirmation => "confirmation",
            Self::PhoneChange => "phone_change",
            Self::Reauthentication => "reauthentication",
        }
    }
}

/// What [`send_code`] is to send: a code for this purpose, to this phone number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextCode<'a> {
    /// Digits without `+`.
    pub(crate) phone: &'a str,
    pub(crate) purpose: CodePurpose,
    pub(crate) channel: Channel,
}

/// A message with a code, before its template is rendered.
struct Message<'a> {
    phone: &'a str,
    code: &'a str,
    template: &'a str,
    channel: Channel,
    /// `sms_type` of the hook's input: `mfa` for second factors, left out otherwise.
    sms_type: Option<&'static str>,
    /// Whether the number is the one that the user changes to; the hook's user then shows it as `new_phone`.
    is_new_phone: bool,
}

/// Generates a code, sends it and stores it, hashed; returns the message's id where the provider has one, and `test-otp`
/// for a test number.
///
/// # Errors
/// 429 `over_sms_send_rate_limit` within `max_frequency` of the last such message or over the hourly limit, 422
/// `sms_send_failed` when the provider rejects the message, or the hook's error.
pub(crate) async fn send_code(
    request: &AuthRequest,
    db: &impl GenericClient,
    user: &User,
    TextCode {
        phone,
        purpose,
        channel,
    }: TextCode<'_>,
) -> Result<Option<String>, AuthError> {
    let now = request.now();
    let config = &request.config().phone;
    let sent_at = match purpose {
        CodePurpose::Confirmation => user.tokens.confirmation_sent_at,
        CodePurpose::PhoneChange => user.tokens.phone_change_sent_at,
        CodePurpose::Reauthentication => user.reauthentication_sent_at,
    };
    if let Some(seconds) = seconds_left(sent_at, config.max_frequency, now) {
        return Err(AuthError::TooSoonSms { seconds });
    }
    let (code, message_id) = match config.test_code(phone, now) {
        Some(code) => (
            OneTimeCode::with_code(code.to_owned(), false),
            Some("test-otp".to_owned()),
        ),
        None => {
            if purpose == CodePurpose::PhoneChange {
                check_pause(request, db, purpose.name(), phone, config.max_frequency).await?;
            }
            // Last: a message that is not sent takes nothing from the limit of all.
            request.state.limits.check_sms()?;
            // Codes by text message are typed, never links, so they need no PKCE prefix.
            let code = OneTimeCode::generate(config.otp_length, false);
            let message = Message {
                phone,
                code: &code.otp,
                template: &config.template,
                channel,
                sms_type: None,
                is_new_phone: matches!(purpose, CodePurpose::PhoneChange),
            };
            let sent = send_message(request, db, user, &message).await;
            let message_id = sent.map_err(|error| map_send_error(error, purpose))?;
            (code, message_id)
        }
    };
    store_code(request, db, user, purpose, (phone, &code)).await?;
    Ok(message_id)
}

/// Refuses a message to a number sooner than `pause` after the last one for the same purpose, whoever has asked for that: the
/// pause protects the number, which anybody can name in accounts and factors of their own.
///
/// # Errors
/// 429 `over_sms_send_rate_limit`.
async fn check_pause(
    request: &AuthRequest,
    db: &impl GenericClient,
    purpose: &str,
    phone: &str,
    pause: Duration,
) -> Result<(), AuthError> {
    let now = request.now();
    let hash = request.state.code_key.hash_phone(purpose, phone);
    match one_time_codes::take_text_message(db, &hash, pause, now).await? {
        None => Ok(()),
        last => Err(AuthError::TooSoonSms {
            seconds: seconds_left(last, pause, now).unwrap_or(1),
        }),
    }
}

/// Stores a code that was sent where the verification of its purpose looks for it. `code` is the phone number and the code.
async fn store_code(
    request: &AuthRequest,
    db: &impl GenericClient,
    user: &User,
    purpose: CodePurpose,
    (phone, code): (&str, &OneTimeCode),
) -> Result<(), AuthError> {
    let now = request.now();
    let token = |kind| SentToken {
        kind,
        address: phone,
        code,
        key: &request.state.code_key,
        asked_by: request.info.asking_network(),
    };
    match purpose {
        CodePurpose::Confirmation => {
            one_time_tokens::store_token(db, user.id, token(TokenKind::Confirmation), now).await?;
        }
        CodePurpose::Reauthentication => {
            one_time_tokens::store_token(db, user.id, token(TokenKind::Reauthentication), now).await?;
        }
        CodePurpose::PhoneChange => {
            phones::set_phone_change(db, user.id, phone, &code.hash, now).await?;
            one_time_tokens::upsert_lookup(db, user.id, token(TokenKind::PhoneChange), now).await?;
        }
    }
    Ok(())
}

/// Sends the code of a second factor. The caller stores it with the challenge, and keeps the pause of the factor itself. A new
/// factor also shares the pause of its number, which it may name without owning it; a verified one does not, because strangers
/// could stop its messages with factors of their own.
///
/// # Errors
/// 429 `over_sms_send_rate_limit` within `max_frequency` of the last such message to the number or over the hourly limit, 500 when the provider rejects the message, or the hook's
/// error.
pub(crate) async fn send_factor_code(
    request: &AuthRequest,
    db: &impl GenericClient,
    user: &User,
    (factor, code): (&Factor, &str),
    channel: Channel,
) -> Result<(), AuthError> {
    let config = &request.config().mfa.phone;
    if !factor.is_verified {
        check_pause(request, db, "mfa", &factor.phone, config.max_frequency).await?;
    }
    request.state.limits.check_sms()?;
    let message = Message {
        phone: &factor.phone,
        code,
        template: &config.template,
        channel,
        sms_type: Some("mfa"),
        is_new_phone: false,
    };
    match send_message(request, db, user, &message).await {
        Ok(_) => Ok(()),
        Err(SendError::Auth(error)) => Err(error),
        Err(SendError::Provider(text)) => {
            tracing::warn!(error = text, "a text message could not be sent");
            Err(AuthError::FactorSmsSendFailed)
        }
    }
}

/// Whether the provider generates and checks codes itself (Twilio Verify), so that the stored hash of our code is not
/// used.
pub(crate) fn provider_checks_codes(state: &AuthState) -> bool {
    !HookPoint::SendSms.is_set(state)
        && matches!(
            state.config.phone.provider,
            Some(SmsProviderConfig::TwilioVerify(_))
        )
}

/// Asks the provider whether a code is right. An error counts as a wrong code, so that an outage of the provider signs
/// nobody in.
pub(crate) async fn check_code_with_provider(state: &AuthState, phone: &str, code: &str) -> bool {
    let Some(SmsProviderConfig::TwilioVerify(account)) = &state.config.phone.provider else {
        return false;
    };
    match providers::check_verification(&state.http, account, phone, code).await {
        Ok(accepted) => accepted,
        Err(error) => {
            tracing::warn!(%error, "the provider could not check a code");
            false
        }
    }
}

/// Why a message was not sent.
enum SendError {
    /// The hook failed or rejected the message, or no provider is configured.
    Auth(AuthError),
    /// The provider's error text.
    Provider(String),
}

/// Turns the provider's error text into 422 `sms_send_failed`; other errors pass unchanged.
fn map_send_error(error: SendError, purpose: CodePurpose) -> AuthError {
    match error {
        SendError::Auth(error) => error,
        SendError::Provider(text) => AuthError::SmsSendFailed {
            purpose: purpose.name(),
            cause: text,
        },
    }
}

/// Sends a message by the project's hook, which has precedence, or by the provider; returns the provider's message id.
async fn send_message(
    request: &AuthRequest,
    db: &impl GenericClient,
    user: &User,
    message: &Message<'_>,
) -> Result<Option<String>, SendError> {
    if HookPoint::SendSms.is_set(&request.state) {
        let mut sms = json!({"otp": message.code, "phone": message.phone});
        if let Some(sms_type) = message.sms_type {
            sms["sms_type"] = Value::from(sms_type);
        }
        let mut shown = user.body();
        if message.is_new_phone {
            // The change is stored once the message was sent, so the row does not have the number yet.
            shown.new_phone = message.phone;
        }
        let input = json!({"user": shown, "sms": sms});
        let result = hooks::call_hook(request, db, HookPoint::SendSms, input).await;
        return result.map(|_| None).map_err(SendError::Auth);
    }
    let Some(provider) = &request.config().phone.provider else {
        return Err(SendError::Auth(AuthError::NoSmsProvider));
    };
    let text = render_message(message.template, message.code);
    let outgoing = providers::TextMessage {
        phone: message.phone,
        text: &text,
        code: message.code,
        channel: message.channel,
    };
    providers::send_text(&request.state.http, provider, &outgoing)
        .await
        .map_err(SendError::Provider)
}

/// Renders the message. A template with a syntax error is replaced by the default text, so that users still get their
/// codes.
fn render_message(template: &str, code: &str) -> String {
    let data = json!({ "Code": code });
    Template::parse(template)
        .map(|template| template.render(&data, Escape::None))
        .unwrap_or_else(|_| format!("Your code is {code}"))
}
