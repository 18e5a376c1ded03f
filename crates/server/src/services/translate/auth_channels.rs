//! Configuration → how the auth service reaches users and other programs: text messages, mail notices, hooks.

use anyhow::{Context, Result};
use selvedge_auth::{HookConfig, HooksConfig, PhoneConfig, SmsProviderConfig, TwilioConfig};
use selvedge_config::{Config, Mode, NotificationTemplate, SmsProvider, Twilio};
use selvedge_mail::MailKind;

use super::caught_messages;

/// Configuration: `[auth.sms]` → Auth's settings of phone numbers and text messages.
pub(super) fn phone_config(config: &Config, mode: Mode) -> PhoneConfig {
    let section = &config.auth.sms;
    PhoneConfig {
        enabled: section.enabled,
        autoconfirm: !section.enable_confirmations,
        max_frequency: section.max_frequency,
        template: section.template.clone(),
        test_otp: section
            .test_otp
            .iter()
            // Auth stores phone numbers as digits only, so test numbers must have the same form to match.
            .map(|(phone, code)| (phone.replace(['+', ' '], ""), code.clone()))
            .collect(),
        provider: caught_messages::choose_provider(config, mode).map(sms_provider),
        ..PhoneConfig::default()
    }
}

fn sms_provider(provider: SmsProvider) -> SmsProviderConfig {
    let secret = Option::unwrap_or_default;
    match provider {
        SmsProvider::Twilio(account) => SmsProviderConfig::Twilio(twilio_config(account)),
        SmsProvider::TwilioVerify(account) => SmsProviderConfig::TwilioVerify(twilio_config(account)),
        SmsProvider::Messagebird {
            originator,
            access_key,
            base_url,
        } => SmsProviderConfig::Messagebird {
            originator,
            access_key: secret(access_key),
            base_url,
        },
        SmsProvider::Textlocal {
            sender,
            api_key,
            base_url,
        } => SmsProviderConfig::Textlocal {
            sender,
            api_key: secret(api_key),
            base_url,
        },
        SmsProvider::Vonage {
            from,
            api_key,
            api_secret,
            base_url,
        } => SmsProviderConfig::Vonage {
            from,
            api_key,
            api_secret: secret(api_secret),
            base_url,
        },
    }
}

fn twilio_config(account: Twilio) -> TwilioConfig {
    TwilioConfig {
        account_sid: account.account_sid,
        message_service_sid: account.message_service_sid,
        auth_token: account.auth_token.unwrap_or_default(),
        content_sid: account.content_sid,
        base_url: account.base_url,
    }
}

/// The enabled hooks.
///
/// # Errors
/// A hook that cannot be called. It must stop the start: leaving a hook out silently could remove an access check.
pub(super) fn hooks_config(config: &Config) -> Result<HooksConfig> {
    let mut hooks = HooksConfig::default();
    for section in &config.auth.hooks {
        let hook = HookConfig::parse(&section.uri, section.secrets.as_ref())
            .with_context(|| format!("[auth.hook.{}]", section.name))?;
        if let Some(slot) = hooks.hook_mut(section.name) {
            *slot = Some(hook);
        }
    }
    Ok(hooks)
}

/// The security notices that `[auth.email.notification.<name>]` switches on, and those of passkeys and recovery codes unless it switches
/// them off.
pub(in crate::services) fn notification_kinds(config: &Config) -> Vec<MailKind> {
    let sections = &config.auth.email.notifications;
    let kind_of = |section: &NotificationTemplate| MailKind::from_notification_name(&section.template.name);
    let enabled = sections.iter().filter(|section| section.enabled);
    let mut kinds: Vec<MailKind> = enabled.filter_map(kind_of).collect();
    let is_named = |kind: &MailKind| sections.iter().any(|section| kind_of(section) == Some(*kind));
    let by_default = [
        MailKind::PasskeyAdded,
        MailKind::PasskeyRemoved,
        MailKind::RecoveryCodeUsed,
        MailKind::RecoveryCodesReplaced,
    ];
    kinds.extend(by_default.into_iter().filter(|kind| !is_named(kind)));
    kinds
}
