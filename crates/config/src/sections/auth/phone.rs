//! `[auth.sms]`: sign-in by phone, and the provider that sends text messages.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use super::external::is_placeholder;
use crate::reader::section::Section;

/// `[auth.sms]`.
#[derive(Debug, Clone)]
pub struct SmsSection {
    /// `enabled`, in older projects `enable_signup`: whether users may sign up and sign in by phone. Default false.
    pub enabled: bool,
    /// Whether a number must be confirmed before the first sign-in. Default false.
    pub enable_confirmations: bool,
    /// Template of the text message. Default `Your code is {{ .Code }}`.
    pub template: String,
    /// The minimum time between two messages to a user. Default 5s.
    pub max_frequency: Duration,
    /// `[auth.sms.test_otp]`: phone numbers with fixed codes, to which nothing is sent.
    pub test_otp: Vec<(String, String)>,
    /// The enabled provider. If several are enabled, the first in the order of [`SmsProvider`] is used.
    pub provider: Option<SmsProvider>,
}

/// The service that sends text messages, with its credentials.
#[derive(Debug, Clone)]
pub enum SmsProvider {
    /// `[auth.sms.twilio]`
    Twilio(Twilio),
    /// `[auth.sms.twilio_verify]`
    TwilioVerify(Twilio),
    /// `[auth.sms.messagebird]`
    Messagebird {
        /// Sender of the messages.
        originator: String,
        /// Secret of the account.
        access_key: Option<SecretString>,
        /// URL of the service. Default: the provider's.
        base_url: Option<String>,
    },
    /// `[auth.sms.textlocal]`
    Textlocal {
        /// Sender of the messages.
        sender: String,
        /// Secret of the account.
        api_key: Option<SecretString>,
        /// URL of the service. Default: the provider's.
        base_url: Option<String>,
    },
    /// `[auth.sms.vonage]`
    Vonage {
        /// Sender of the messages.
        from: String,
        /// Name of the account.
        api_key: String,
        /// Secret of the account.
        api_secret: Option<SecretString>,
        /// URL of the service. Default: the provider's.
        base_url: Option<String>,
    },
}

impl SmsProvider {
    /// The name of its section below `[auth.sms]`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Twilio(_) => "twilio",
            Self::TwilioVerify(_) => "twilio_verify",
            Self::Messagebird { .. } => "messagebird",
            Self::Textlocal { .. } => "textlocal",
            Self::Vonage { .. } => "vonage",
        }
    }

    /// Whether an id or secret of the account is missing: empty, an `env(…)` whose variable is not set, or `dev`.
    pub fn lacks_credentials(&self) -> bool {
        let is_missing = |secret: &Option<SecretString>| {
            is_placeholder(secret.as_ref().map_or("", |secret| secret.expose_secret()))
        };
        match self {
            Self::Twilio(account) | Self::TwilioVerify(account) => {
                is_placeholder(&account.account_sid) || is_missing(&account.auth_token)
            }
            Self::Messagebird { access_key, .. } => is_missing(access_key),
            Self::Textlocal { api_key, .. } => is_missing(api_key),
            Self::Vonage {
                api_key, api_secret, ..
            } => is_placeholder(api_key) || is_missing(api_secret),
        }
    }

    /// The URL under which it is called; `None` is the provider's own.
    pub fn base_url_mut(&mut self) -> &mut Option<String> {
        match self {
            Self::Twilio(account) | Self::TwilioVerify(account) => &mut account.base_url,
            Self::Messagebird { base_url, .. }
            | Self::Textlocal { base_url, .. }
            | Self::Vonage { base_url, .. } => base_url,
        }
    }
}

/// An account with Twilio.
#[derive(Debug, Clone)]
pub struct Twilio {
    /// `AC…`
    pub account_sid: String,
    /// `MG…` or `VA…`
    pub message_service_sid: String,
    /// Secret of the account.
    pub auth_token: Option<SecretString>,
    /// Template of WhatsApp messages.
    pub content_sid: String,
    /// URL of the service. Default: Twilio's.
    pub base_url: Option<String>,
}

impl SmsSection {
    pub(super) fn read(section: &Section<'_>) -> Self {
        let providers = [
            read_twilio(&section.section("twilio")).map(SmsProvider::Twilio),
            read_twilio(&section.section("twilio_verify")).map(SmsProvider::TwilioVerify),
            read_messagebird(&section.section("messagebird")),
            read_textlocal(&section.section("textlocal")),
            read_vonage(&section.section("vonage")),
        ];
        Self {
            enabled: section.is_enabled_or_older("enable_signup", false),
            enable_confirmations: section.bool("enable_confirmations", false),
            template: read_template(section),
            max_frequency: section.duration("max_frequency", Duration::from_secs(5)),
            test_otp: section.section("test_otp").text_entries(),
            provider: providers.into_iter().flatten().next(),
        }
    }
}

/// Compat: the CLI's own template file escapes the code as a Go template literal, so projects carry
/// ``{{ `{{ .Code }}` }}`` where `{{ .Code }}` is meant.
pub(super) fn read_template(section: &Section<'_>) -> String {
    section
        .string("template", "Your code is {{ .Code }}")
        .replace("{{ `{{ .Code }}` }}", "{{ .Code }}")
}

fn read_twilio(section: &Section<'_>) -> Option<Twilio> {
    let enabled = section.is_enabled(false);
    let account = Twilio {
        account_sid: section.string("account_sid", ""),
        message_service_sid: section.string("message_service_sid", ""),
        auth_token: section.optional_secret("auth_token"),
        content_sid: section.string("content_sid", ""),
        base_url: section.optional_string("base_url"),
    };
    enabled.then_some(account)
}

fn read_messagebird(section: &Section<'_>) -> Option<SmsProvider> {
    let enabled = section.is_enabled(false);
    let provider = SmsProvider::Messagebird {
        originator: section.string("originator", ""),
        access_key: section.optional_secret("access_key"),
        base_url: section.optional_string("base_url"),
    };
    enabled.then_some(provider)
}

fn read_textlocal(section: &Section<'_>) -> Option<SmsProvider> {
    let enabled = section.is_enabled(false);
    let provider = SmsProvider::Textlocal {
        sender: section.string("sender", ""),
        api_key: section.optional_secret("api_key"),
        base_url: section.optional_string("base_url"),
    };
    enabled.then_some(provider)
}

fn read_vonage(section: &Section<'_>) -> Option<SmsProvider> {
    let enabled = section.is_enabled(false);
    let provider = SmsProvider::Vonage {
        from: section.string("from", ""),
        api_key: section.string("api_key", ""),
        api_secret: section.optional_secret("api_secret"),
        base_url: section.optional_string("base_url"),
    };
    enabled.then_some(provider)
}
