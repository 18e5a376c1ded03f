//! `[auth.sms]`: sign-in by phone, and the services that send text messages. Source: Auth contract §3.4, §7, §10.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use secrecy::SecretString;

/// Sign-in by phone (`[auth.sms]`).
#[derive(Debug, Clone)]
pub struct PhoneConfig {
    /// Whether users may sign up and sign in by phone (`enable_signup`).
    pub enabled: bool,
    /// Whether new numbers count as confirmed without a message (`!enable_confirmations`).
    pub autoconfirm: bool,
    /// Shortest time between two messages to one user for one purpose (`max_frequency`).
    pub max_frequency: Duration,
    /// Number of digits of a code; 6 to 10, anything else counts as 6.
    pub otp_length: u8,
    /// How long a one-time code sent by text message stays valid.
    pub otp_expiry: Duration,
    /// Text of the message (`template`); `{{ .Code }}` is replaced by the code.
    pub template: String,
    /// Fixed codes by phone number, without `+` (`test_otp`). No message is sent to these numbers.
    pub test_otp: BTreeMap<String, String>,
    /// When the codes in `test_otp` expire; `None` means never.
    pub test_otp_valid_until: Option<DateTime<Utc>>,
    /// The service that sends messages; ignored when the project has the hook `send_sms`.
    pub provider: Option<SmsProviderConfig>,
}

impl PhoneConfig {
    /// Returns the fixed code of a test number; `None` for other numbers, and once the test codes have expired.
    pub(crate) fn test_code(&self, phone: &str, now: DateTime<Utc>) -> Option<&str> {
        let is_valid = self.test_otp_valid_until.is_none_or(|end| now < end);
        self.test_otp
            .get(phone)
            .filter(|code| is_valid && !code.is_empty())
            .map(String::as_str)
    }
}

/// The account with a service that sends text messages. `base_url` replaces the service's own URL, for a proxy or a
/// compatible service.
#[derive(Debug, Clone)]
pub enum SmsProviderConfig {
    /// Twilio Programmable Messaging.
    Twilio(TwilioConfig),
    /// Twilio Verify, which generates and checks the codes itself.
    TwilioVerify(TwilioConfig),
    /// MessageBird.
    Messagebird {
        /// Name or number that phones show as the sender.
        originator: String,
        /// API key of the account.
        access_key: SecretString,
        /// Default `https://rest.messagebird.com`.
        base_url: Option<String>,
    },
    /// Textlocal.
    Textlocal {
        /// Name that phones show as the sender.
        sender: String,
        /// API key of the account.
        api_key: SecretString,
        /// Default `https://api.textlocal.in`.
        base_url: Option<String>,
    },
    /// Vonage.
    Vonage {
        /// Name or number that phones show as the sender.
        from: String,
        /// API key, which identifies the account and is not secret.
        api_key: String,
        /// Secret that belongs to the API key.
        api_secret: SecretString,
        /// Default `https://rest.nexmo.com`.
        base_url: Option<String>,
    },
}

impl SmsProviderConfig {
    /// The provider's name in the `sms_provider` member of `/settings`.
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

/// An account with Twilio, for Programmable Messaging or Verify.
#[derive(Debug, Clone)]
pub struct TwilioConfig {
    /// Id of the account (`AC…`); the user name of HTTP Basic authentication.
    pub account_sid: String,
    /// Id of the messaging service (`MG…`) or a number to send from; with Verify, the id of the Verify service (`VA…`).
    pub message_service_sid: String,
    /// Secret of the account; the password of HTTP Basic authentication.
    pub auth_token: SecretString,
    /// Id of the content template of WhatsApp messages (`HX…`), which gets the code as variable 1; empty sends plain
    /// text.
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
            // The CLI's value; GoTrue alone would use 60 s.
            otp_expiry: Duration::from_secs(6000),
            template: "Your code is {{ .Code }}".to_owned(),
            test_otp: BTreeMap::new(),
            test_otp_valid_until: None,
            provider: None,
        }
    }
}
