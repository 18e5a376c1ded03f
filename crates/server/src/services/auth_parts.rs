//! The parts of `[auth]` that reach out of the server or guard it, in the words of the auth service: text messages, second
//! factors, hooks, captchas.

use anyhow::{Context, Result};
use secrecy::SecretString;
use selvedge_auth::{
    CaptchaConfig, HookConfig, HooksConfig, LeakedPasswordConfig, MfaConfig, PhoneConfig, PhoneFactorConfig,
    SmsProviderConfig, TwilioConfig, WebauthnConfig,
};
use selvedge_mail::MailKind;

use crate::config::{
    CaptchaProvider, Config, FactorSwitch, MfaSection, SmsProvider, SmsSection, Twilio, WebauthnSection,
};

pub(super) fn phone(section: &SmsSection) -> PhoneConfig {
    PhoneConfig {
        enabled: section.enable_signup,
        autoconfirm: !section.enable_confirmations,
        max_frequency: section.max_frequency,
        template: section.template.clone(),
        test_otp: section
            .test_otp
            .iter()
            .map(|(phone, code)| (phone.replace(['+', ' '], ""), code.clone()))
            .collect(),
        provider: section.provider.clone().map(provider),
        ..PhoneConfig::default()
    }
}

fn provider(provider: SmsProvider) -> SmsProviderConfig {
    let secret = Option::unwrap_or_default;
    match provider {
        SmsProvider::Twilio(account) => SmsProviderConfig::Twilio(twilio(account)),
        SmsProvider::TwilioVerify(account) => SmsProviderConfig::TwilioVerify(twilio(account)),
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

fn twilio(account: Twilio) -> TwilioConfig {
    TwilioConfig {
        account_sid: account.account_sid,
        message_service_sid: account.message_service_sid,
        auth_token: account.auth_token.unwrap_or_default(),
        content_sid: account.content_sid,
        base_url: account.base_url,
    }
}

pub(super) fn mfa(section: &MfaSection) -> MfaConfig {
    let switch = |switch: FactorSwitch| selvedge_auth::FactorSwitch {
        enroll: switch.enroll_enabled,
        verify: switch.verify_enabled,
    };
    MfaConfig {
        max_enrolled_factors: usize::try_from(section.max_enrolled_factors).unwrap_or(usize::MAX),
        totp: switch(section.totp),
        phone: PhoneFactorConfig {
            switch: switch(section.phone.switch),
            otp_length: u8::try_from(section.phone.otp_length).unwrap_or(6),
            template: section.phone.template.clone(),
            max_frequency: section.phone.max_frequency,
        },
        webauthn: switch(section.web_authn),
        ..MfaConfig::default()
    }
}

pub(super) fn webauthn(section: &WebauthnSection) -> WebauthnConfig {
    WebauthnConfig {
        passkeys_enabled: section.passkeys_enabled,
        rp_id: section.rp_id.clone(),
        rp_display_name: section.rp_display_name.clone(),
        rp_origins: section.rp_origins.clone(),
    }
}

/// The enabled hooks; one that cannot be called stops the start, as a hook that is silently left out may be a guard.
pub(super) fn hooks(config: &Config) -> Result<HooksConfig> {
    let mut hooks = HooksConfig::default();
    for section in &config.auth.hooks {
        let hook = HookConfig::parse(&section.uri, section.secrets.as_ref())
            .with_context(|| format!("[auth.hook.{}]", section.name))?;
        if let Some(slot) = hooks.slot(section.name) {
            *slot = Some(hook);
        }
    }
    Ok(hooks)
}

pub(super) fn captcha(config: &Config) -> Option<CaptchaConfig> {
    config.auth.captcha.as_ref().map(|section| CaptchaConfig {
        provider: match section.provider {
            CaptchaProvider::Hcaptcha => selvedge_auth::CaptchaProvider::Hcaptcha,
            CaptchaProvider::Turnstile => selvedge_auth::CaptchaProvider::Turnstile,
        },
        secret: section.secret.clone().unwrap_or_else(SecretString::default),
        verify_url: config.own.auth.captcha_url.clone(),
    })
}

pub(super) fn leaked_passwords(config: &Config) -> Option<LeakedPasswordConfig> {
    let section = &config.own.auth;
    section.leaked_passwords.then(|| LeakedPasswordConfig {
        base_url: section
            .leaked_passwords_url
            .clone()
            .unwrap_or_else(|| LeakedPasswordConfig::default().base_url),
        fail_closed: section.leaked_passwords_fail_closed,
    })
}

/// The notices that the project wants to be sent.
pub(super) fn notifications(config: &Config) -> Vec<MailKind> {
    let enabled = config
        .auth
        .email
        .notifications
        .iter()
        .filter(|notice| notice.enabled);
    enabled
        .filter_map(|notice| MailKind::from_notification_name(&notice.template.name))
        .collect()
}
