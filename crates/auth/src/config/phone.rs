//! `[auth.sms]`: text messages, and who sends them.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use secrecy::SecretString;

/// `[auth.sms]`
#[derive(Debug, Clone)]
pub struct PhoneConfig {
    /// Sign-up and sign-in by phone (`enable_signup`).
    pub enabled: bool,
    /// New numbers count as confirmed at once (`!enable_confirmations`).
    pub autoconfirm: bool,
    /// Least time between two messages to one user for one purpose (`max_frequency`).
    pub max_frequency: Duration,
    /// Digits of a code; 6 to 10.
    pub otp_length: u8,
    /// Life of a code.
    pub otp_expiry: Duration,
    /// The message (`template`); `{{ .Code }}` is the code.
    pub template: String,
    /// Codes that are accepted for these numbers without any message (`test_otp`). Numbers without `+`.
    pub test_otp: BTreeMap<String, String>,
    /// When those codes end.
    pub test_otp_valid_until: Option<DateTime<Utc>>,
    /// Who sends. None is needed where a hook does.
    pub provider: Option<SmsProviderConfig>,
}

impl PhoneConfig {
    /// The code that a number of the test list always has.
    pub(crate) fn test_code(&self, phone: &str, now: DateTime<Utc>) -> Option<&str> {
        let is_valid = self.test_otp_valid_until.is_none_or(|end| now < end);
        self.test_otp
            .get(phone)
            .filter(|code| is_valid && !code.is_empty())
            .map(String::as_str)
    }
}

/// Who sends text messages. `base_url` replaces the provider's own address: a proxy, or a compatible service.
#[derive(Debug, Clone)]
pub enum SmsProviderConfig {
    /// Twilio Programmable Messaging.
    Twilio(TwilioConfig),
    /// Twilio Verify, which makes and checks the codes itself.
    TwilioVerify(TwilioConfig),
    /// MessageBird.
    Messagebird {
        /// Sender.
        originator: String,
        /// Secret of the account.
        access_key: SecretString,
        /// Default `https://rest.messagebird.com`.
        base_url: Option<String>,
    },
    /// Textlocal.
    Textlocal {
        /// Sender.
        sender: String,
        /// Secret of the account.
        api_key: SecretString,
        /// Default `https://api.textlocal.in`.
        base_url: Option<String>,
    },
    /// Vonage.
    Vonage {
        /// Sender.
        from: String,
        /// Name of the account.
        api_key: String,
        /// Secret of the account.
        api_secret: SecretString,
        /// Default `https://rest.nexmo.com`.
        base_url: Option<String>,
    },
}

impl SmsProviderConfig {
    /// The name in `/settings`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Twilio(_) => "twilio",
            Self::TwilioVerify(_) => "twilio_verify",
            Self::Messagebird { .. } => "messagebird",
            Self::Textlocal { .. } => "textlocal",
            Self::Vonage { .. } => "vonage",
        }
    }
}

/// An account with Twilio.
#[derive(Debug, Clone)]
pub struct TwilioConfig {
    /// `AC…`
    pub account_sid: String,
    /// `MG…`, `VA…`, or a number to send from.
    pub message_service_sid: String,
    /// Secret of the account.
    pub auth_token: SecretString,
    /// Template of WhatsApp messages; empty for plain text.
    pub content_sid: String,
    /// Default `https://api.twilio.com`, or `https://verify.twilio.com`.
    pub base_url: Option<String>,
}

impl Default for PhoneConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            autoconfirm: true,
            max_frequency: Duration::from_secs(5),
            otp_length: 6,
            otp_expiry: Duration::from_secs(6000),
            template: "Your code is {{ .Code }}".to_owned(),
            test_otp: BTreeMap::new(),
            test_otp_valid_until: None,
            provider: None,
        }
    }
}
