//! `[auth.mfa]`: second factors.

use std::time::Duration;

use crate::config::section::Section;

/// `[auth.mfa]`.
#[derive(Debug, Clone)]
pub struct MfaSection {
    /// Factors per user. Default 10.
    pub max_enrolled_factors: u32,
    /// `[auth.mfa.totp]`. Default off.
    pub totp: FactorSwitch,
    /// `[auth.mfa.phone]`. Default off.
    pub phone: PhoneFactor,
    /// `[auth.mfa.web_authn]`. Default off.
    pub web_authn: FactorSwitch,
}

/// What may be done with one kind of factor.
#[derive(Debug, Clone, Copy)]
pub struct FactorSwitch {
    /// New ones may be added.
    pub enroll_enabled: bool,
    /// Existing ones may be used.
    pub verify_enabled: bool,
}

/// `[auth.mfa.phone]`.
#[derive(Debug, Clone)]
pub struct PhoneFactor {
    /// What may be done.
    pub switch: FactorSwitch,
    /// Digits of a code. Default 6.
    pub otp_length: u32,
    /// The message, a template.
    pub template: String,
    /// The least time between two messages. Default 5s.
    pub max_frequency: Duration,
}

/// `[auth.passkey]` and `[auth.webauthn]`.
#[derive(Debug, Clone)]
pub struct WebauthnSection {
    /// Whether users may sign in with passkeys. Default false.
    pub passkeys_enabled: bool,
    /// Domain that credentials belong to. Default: the host of `site_url`.
    pub rp_id: String,
    /// What browsers show. Default: `rp_id`.
    pub rp_display_name: String,
    /// Where ceremonies may take place. Default: the origin of `site_url`.
    pub rp_origins: Vec<String>,
}

impl WebauthnSection {
    pub(super) fn read(passkey: &Section<'_>, webauthn: &Section<'_>) -> Self {
        Self {
            passkeys_enabled: passkey.enabled(false),
            rp_id: webauthn.string("rp_id", ""),
            rp_display_name: webauthn.string("rp_display_name", ""),
            rp_origins: webauthn.strings("rp_origins", &[]),
        }
    }
}

impl MfaSection {
    pub(super) fn read(section: &Section<'_>) -> Self {
        let phone = section.section("phone");
        Self {
            max_enrolled_factors: section.integer("max_enrolled_factors", 10, 0..=1000),
            totp: switch(&section.section("totp")),
            phone: PhoneFactor {
                switch: switch(&phone),
                otp_length: phone.integer("otp_length", 6, 6..=10),
                template: super::phone::template(&phone),
                max_frequency: phone.duration("max_frequency", Duration::from_secs(5)),
            },
            web_authn: switch(&section.section("web_authn")),
        }
    }
}

fn switch(section: &Section<'_>) -> FactorSwitch {
    FactorSwitch {
        enroll_enabled: section.bool("enroll_enabled", false),
        verify_enabled: section.bool("verify_enabled", false),
    }
}
