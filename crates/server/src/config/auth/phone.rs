//! `[auth.sms]`: text messages and who sends them.

use std::time::Duration;

use secrecy::SecretString;

use crate::config::section::Section;

/// `[auth.sms]`.
#[derive(Debug, Clone)]
pub struct SmsSection {
    /// Whether accounts may be made with a phone number. Default false.
    pub enable_signup: bool,
    /// Whether a number is confirmed before the first sign-in. Default false.
    pub enable_confirmations: bool,
    /// The message, a template. Default `Your code is {{ .Code }}`.
    pub template: String,
    /// The least time between two messages to one user. Default 5s.
    pub max_frequency: Duration,
    /// `[auth.sms.test_otp]`: fixed codes by phone number.
    pub test_otp: Vec<(String, String)>,
    /// The enabled provider.
    pub provider: Option<SmsProvider>,
}

/// Who sends text messages.
#[derive(Debug, Clone)]
pub enum SmsProvider {
    /// `[auth.sms.twilio]`
    Twilio(Twilio),
    /// `[auth.sms.twilio_verify]`
    TwilioVerify(Twilio),
    /// `[auth.sms.messagebird]`
    Messagebird {
        /// Sender.
        originator: String,
        /// Secret of the account.
        access_key: Option<SecretString>,
        /// Replaces the provider's own address.
        base_url: Option<String>,
    },
    /// `[auth.sms.textlocal]`
    Textlocal {
        /// Sender.
        sender: String,
        /// Secret of the account.
        api_key: Option<SecretString>,
        /// Replaces the provider's own address.
        base_url: Option<String>,
    },
    /// `[auth.sms.vonage]`
    Vonage {
        /// Sender.
        from: String,
        /// Name of the account.
        api_key: String,
        /// Secret of the account.
        api_secret: Option<SecretString>,
        /// Replaces the provider's own address.
        base_url: Option<String>,
    },
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
    /// Replaces the provider's own address.
    pub base_url: Option<String>,
}

impl SmsSection {
    pub(super) fn read(section: &Section<'_>) -> Self {
        let providers = [
            twilio(&section.section("twilio")).map(SmsProvider::Twilio),
            twilio(&section.section("twilio_verify")).map(SmsProvider::TwilioVerify),
            messagebird(&section.section("messagebird")),
            textlocal(&section.section("textlocal")),
            vonage(&section.section("vonage")),
        ];
        Self {
            enable_signup: section.bool("enable_signup", false),
            enable_confirmations: section.bool("enable_confirmations", false),
            template: template(section),
            max_frequency: section.duration("max_frequency", Duration::from_secs(5)),
            test_otp: section.section("test_otp").pairs(),
            provider: providers.into_iter().flatten().next(),
        }
    }
}

/// Compat: the CLI's own template file escapes the code as a Go template literal, so projects carry
/// ``{{ `{{ .Code }}` }}`` where `{{ .Code }}` is meant.
pub(super) fn template(section: &Section<'_>) -> String {
    section
        .string("template", "Your code is {{ .Code }}")
        .replace("{{ `{{ .Code }}` }}", "{{ .Code }}")
}

fn twilio(section: &Section<'_>) -> Option<Twilio> {
    let enabled = section.enabled(false);
    let account = Twilio {
        account_sid: section.string("account_sid", ""),
        message_service_sid: section.string("message_service_sid", ""),
        auth_token: section.optional_secret("auth_token"),
        content_sid: section.string("content_sid", ""),
        base_url: section.optional_string("base_url"),
    };
    enabled.then_some(account)
}

fn messagebird(section: &Section<'_>) -> Option<SmsProvider> {
    let enabled = section.enabled(false);
    let provider = SmsProvider::Messagebird {
        originator: section.string("originator", ""),
        access_key: section.optional_secret("access_key"),
        base_url: section.optional_string("base_url"),
    };
    enabled.then_some(provider)
}

fn textlocal(section: &Section<'_>) -> Option<SmsProvider> {
    let enabled = section.enabled(false);
    let provider = SmsProvider::Textlocal {
        sender: section.string("sender", ""),
        api_key: section.optional_secret("api_key"),
        base_url: section.optional_string("base_url"),
    };
    enabled.then_some(provider)
}

fn vonage(section: &Section<'_>) -> Option<SmsProvider> {
    let enabled = section.enabled(false);
    let provider = SmsProvider::Vonage {
        from: section.string("from", ""),
        api_key: section.string("api_key", ""),
        api_secret: section.optional_secret("api_secret"),
        base_url: section.optional_string("base_url"),
    };
    enabled.then_some(provider)
}
