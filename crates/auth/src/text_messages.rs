//! Text messages with one-time codes: store the token, then send. Source: Auth contract §2.5, §3.4, §7.
//!
//! The message leaves inside the request, as clients want its id and the provider's refusal. A code of the test list leaves not
//! at all.

use deadpool_postgres::GenericClient;
use selvedge_mail::{Escape, Template};
use serde_json::{Value, json};

use crate::config::SmsProviderConfig;
use crate::error::AuthError;
use crate::hooks::{self, HookPoint};
use crate::limits::seconds_left;
use crate::request::RequestInfo;
use crate::rules::one_time_code::{self, OneTimeCode};
use crate::state::AuthState;
use crate::store::one_time_tokens::{self, TokenKind};
use crate::store::phones;
use crate::user::User;

mod providers;

/// How a message reaches a phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    Sms,
    Whatsapp,
}

impl Channel {
    /// Reads the name on the wire; nothing means SMS. WhatsApp is for providers that can; where a hook sends the messages, the
    /// name is nobody's business.
    ///
    /// # Errors
    /// 400 `validation_failed`.
    pub(crate) fn parse(name: &str, state: &AuthState) -> Result<Self, AuthError> {
        use SmsProviderConfig::{Twilio, TwilioVerify};
        match name {
            "" | "sms" => Ok(Self::Sms),
            "whatsapp" if matches!(state.config.phone.provider, Some(Twilio(_) | TwilioVerify(_))) => {
                Ok(Self::Whatsapp)
            }
            "whatsapp" if HookPoint::SendSms.is_set(state) => Ok(Self::Whatsapp),
            _ if HookPoint::SendSms.is_set(state) => Ok(Self::Sms),
            _ => Err(AuthError::invalid(
                "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' is only supported if Twilio or \
                 Twilio Verify is used as the provider.",
            )),
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Sms => "sms",
            Self::Whatsapp => "whatsapp",
        }
    }
}

/// What a code is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodePurpose {
    /// Sign-up and sign-in.
    Confirmation,
    /// Another number.
    PhoneChange,
    /// A sensitive change.
    Reauthentication,
}

impl CodePurpose {
    fn name(self) -> &'static str {
        match self {
            Self::Confirmation => "confirmation",
            Self::PhoneChange => "phone_change",
            Self::Reauthentication => "reauthentication",
        }
    }
}

/// One message with a code.
struct Message<'a> {
    phone: &'a str,
    code: &'a str,
    template: &'a str,
    channel: Channel,
    /// `mfa` for second factors; a hook sees it.
    sms_type: Option<&'static str>,
}

/// Sends a code to `phone` and remembers it; the message's id, where the provider has one.
///
/// # Errors
/// 429 `over_sms_send_rate_limit`, 422 `sms_send_failed`, or what the hook refused with.
pub(crate) async fn send_code(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    user: &User,
    phone: &str,
    purpose: CodePurpose,
    channel: Channel,
) -> Result<Option<String>, AuthError> {
    let now = state.now();
    let config = &state.config.phone;
    let sent_at = match purpose {
        CodePurpose::Confirmation => user.tokens.confirmation_sent_at,
        CodePurpose::PhoneChange => user.tokens.phone_change_sent_at,
        CodePurpose::Reauthentication => user.reauthentication_sent_at,
    };
    if let Some(seconds) = seconds_left(sent_at, config.max_frequency, now) {
        return Err(AuthError::TooSoonSms { seconds });
    }
    let (hash, message_id) = match config.test_code(phone, now) {
        Some(code) => (one_time_code::hash(phone, code), Some("test-otp".to_owned())),
        None => {
            state.limits.check_sms()?;
            let code = OneTimeCode::generate(phone, config.otp_length, false);
            let message = Message {
                phone,
                code: &code.otp,
                template: &config.template,
                channel,
                sms_type: None,
            };
            let sent = send(state, db, info, user, &message).await;
            let message_id = sent.map_err(|error| refused(error, purpose))?;
            (code.hash, message_id)
        }
    };
    match purpose {
        CodePurpose::Confirmation => {
            one_time_tokens::set(db, user.id, TokenKind::Confirmation, phone, &hash, now).await?;
        }
        CodePurpose::Reauthentication => {
            one_time_tokens::set(db, user.id, TokenKind::Reauthentication, phone, &hash, now).await?;
        }
        CodePurpose::PhoneChange => {
            phones::set_change(db, user.id, phone, &hash, now).await?;
            one_time_tokens::put(db, user.id, TokenKind::PhoneChange, &hash, phone).await?;
        }
    }
    Ok(message_id)
}

/// Sends the code of a second factor.
///
/// # Errors
/// 500 when the provider refuses, or what the hook refused with.
pub(crate) async fn send_factor_code(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    user: &User,
    (phone, code): (&str, &str),
    channel: Channel,
) -> Result<(), AuthError> {
    state.limits.check_sms()?;
    let message = Message {
        phone,
        code,
        template: &state.config.mfa.phone.template,
        channel,
        sms_type: Some("mfa"),
    };
    match send(state, db, info, user, &message).await {
        Ok(_) => Ok(()),
        Err(SendError::Auth(error)) => Err(error),
        Err(SendError::Provider(text)) => {
            tracing::warn!(error = text, "a text message could not be sent");
            Err(AuthError::coded(
                500,
                "unexpected_failure",
                "error sending message",
            ))
        }
    }
}

/// Whether the provider makes and checks codes itself.
pub(crate) fn provider_checks_codes(state: &AuthState) -> bool {
    !HookPoint::SendSms.is_set(state)
        && matches!(
            state.config.phone.provider,
            Some(SmsProviderConfig::TwilioVerify(_))
        )
}

/// Asks a provider that checks codes itself; any trouble counts as a wrong code.
pub(crate) async fn provider_accepts(state: &AuthState, phone: &str, code: &str) -> bool {
    let Some(SmsProviderConfig::TwilioVerify(account)) = &state.config.phone.provider else {
        return false;
    };
    match providers::check_with_twilio(&state.http, account, phone, code).await {
        Ok(accepted) => accepted,
        Err(error) => {
            tracing::warn!(%error, "the provider could not check a code");
            false
        }
    }
}

/// Why a message did not leave.
enum SendError {
    Auth(AuthError),
    Provider(String),
}

fn refused(error: SendError, purpose: CodePurpose) -> AuthError {
    match error {
        SendError::Auth(error) => error,
        SendError::Provider(text) => AuthError::coded(
            422,
            "sms_send_failed",
            format!("Error sending {} OTP to provider: {text}", purpose.name()),
        ),
    }
}

async fn send(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    user: &User,
    message: &Message<'_>,
) -> Result<Option<String>, SendError> {
    if HookPoint::SendSms.is_set(state) {
        let mut sms = json!({"otp": message.code, "phone": message.phone});
        if let Some(sms_type) = message.sms_type {
            sms["sms_type"] = Value::from(sms_type);
        }
        let input = json!({"user": user.body(), "sms": sms});
        let answer = hooks::call(state, db, info, HookPoint::SendSms, input).await;
        return answer.map(|_| None).map_err(SendError::Auth);
    }
    let Some(provider) = &state.config.phone.provider else {
        return Err(SendError::Auth(AuthError::coded(
            500,
            "unexpected_failure",
            "Unable to get SMS provider",
        )));
    };
    let text = render(message.template, message.code);
    let outgoing = providers::Text {
        phone: message.phone,
        text: &text,
        code: message.code,
        channel: message.channel,
    };
    providers::send(&state.http, provider, &outgoing)
        .await
        .map_err(SendError::Provider)
}

/// A template that cannot be read says the code all the same.
fn render(template: &str, code: &str) -> String {
    let data = json!({ "Code": code });
    Template::parse(template)
        .map(|template| template.render(&data, Escape::None))
        .unwrap_or_else(|_| format!("Your code is {code}"))
}
