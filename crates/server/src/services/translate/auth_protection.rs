//! Configuration → account protection: second factors, passkeys, captchas, the check for leaked passwords.

use secrecy::SecretString;
use selvedge_auth::{
    CaptchaConfig, LeakedPasswordConfig, MfaConfig, PhoneFactorConfig, RecoveryCodesConfig, WebauthnConfig,
};
use selvedge_config::{CaptchaProvider, Config, FactorSwitch, MfaSection, WebauthnSection};

/// Configuration: `[auth.mfa]` → Auth's settings of second factors.
pub(super) fn mfa_config(section: &MfaSection) -> MfaConfig {
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
        recovery_codes: RecoveryCodesConfig {
            switch: switch(section.recovery_codes.switch),
            count: usize::try_from(section.recovery_codes.count).unwrap_or(usize::MAX),
            code_length: usize::try_from(section.recovery_codes.code_length).unwrap_or(usize::MAX),
            max_verify_attempts: i32::try_from(section.recovery_codes.max_verify_attempts)
                .unwrap_or(i32::MAX),
            lockout: section.recovery_codes.lockout_duration,
        },
        ..MfaConfig::default()
    }
}

/// Configuration: `[auth.webauthn]` → Auth's relying party.
pub(super) fn webauthn_config(section: &WebauthnSection) -> WebauthnConfig {
    WebauthnConfig {
        passkeys_enabled: section.passkeys_enabled,
        rp_id: section.rp_id.clone(),
        rp_display_name: section.rp_display_name.clone(),
        rp_origins: section.rp_origins.clone(),
    }
}

/// Configuration: `[auth.captcha]` → Auth's settings; `None` when it is disabled.
pub(super) fn captcha_config(config: &Config) -> Option<CaptchaConfig> {
    config.auth.captcha.as_ref().map(|section| CaptchaConfig {
        provider: match section.provider {
            CaptchaProvider::Hcaptcha => selvedge_auth::CaptchaProvider::Hcaptcha,
            CaptchaProvider::Turnstile => selvedge_auth::CaptchaProvider::Turnstile,
        },
        secret: section.secret.clone().unwrap_or_else(SecretString::default),
        verify_url: config.selvedge.auth.captcha_url.clone(),
    })
}

/// Configuration: the check of passwords against known leaks; `None` when it is disabled.
pub(super) fn leaked_passwords(config: &Config) -> Option<LeakedPasswordConfig> {
    let section = &config.selvedge.auth;
    section.leaked_passwords.then(|| LeakedPasswordConfig {
        base_url: section
            .leaked_passwords_url
            .clone()
            .unwrap_or_else(|| LeakedPasswordConfig::default().base_url),
        fail_closed: section.leaked_passwords_fail_closed,
    })
}
