//! `[auth.mfa]`, `[auth.passkey]` and `[auth.webauthn]`: second factors and passkeys.

use std::time::Duration;

use crate::reader::section::Section;

/// Bounds of `lockout_duration`.
const SHORTEST_LOCKOUT: Duration = Duration::from_secs(60);
const LONGEST_LOCKOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// `[auth.mfa]`.
#[derive(Debug, Clone)]
pub struct MfaSection {
    /// The maximum number of factors per user. Default 10.
    pub max_enrolled_factors: u32,
    /// `[auth.mfa.totp]`. Default off.
    pub totp: FactorSwitch,
    /// `[auth.mfa.phone]`. Default off.
    pub phone: PhoneFactor,
    /// `[auth.mfa.web_authn]`. Default off.
    pub web_authn: FactorSwitch,
    /// `[auth.mfa.recovery_codes]`. Default off.
    pub recovery_codes: RecoveryCodes,
}

/// Whether one kind of factor may be enrolled and used.
#[derive(Debug, Clone, Copy)]
pub struct FactorSwitch {
    /// Whether users may enroll new factors of this kind.
    pub enroll_enabled: bool,
    /// Whether users may verify factors of this kind.
    pub verify_enabled: bool,
}

/// `[auth.mfa.recovery_codes]`.
#[derive(Debug, Clone)]
pub struct RecoveryCodes {
    /// Whether codes may be generated and used; `enabled` sets both.
    pub switch: FactorSwitch,
    /// Codes of a set, 4 to 16. Default 10.
    pub count: u32,
    /// Letters of a code, 13 to 32. Default 16.
    pub code_length: u32,
    /// Wrong codes that lock a set, 3 to 15. Default 5.
    pub max_verify_attempts: u32,
    /// How long a set is locked, a minute to a day. Default 15m.
    pub lockout_duration: Duration,
}

/// `[auth.mfa.phone]`.
#[derive(Debug, Clone)]
pub struct PhoneFactor {
    /// Whether phone factors may be enrolled and verified.
    pub switch: FactorSwitch,
    /// Number of digits of a code. Default 6.
    pub otp_length: u32,
    /// Template of the text message.
    pub template: String,
    /// The minimum time between two messages. Default 5s.
    pub max_frequency: Duration,
}

/// `[auth.passkey]` and `[auth.webauthn]`.
#[derive(Debug, Clone)]
pub struct WebauthnSection {
    /// Whether users may sign in with passkeys. Default false.
    pub passkeys_enabled: bool,
    /// Relying party id: the domain to which credentials are bound. Default: the host of `site_url`.
    pub rp_id: String,
    /// The name that browsers show. Default: `rp_id`.
    pub rp_display_name: String,
    /// Origins of pages that may register and use credentials. Default: the origin of `site_url`.
    pub rp_origins: Vec<String>,
}

impl WebauthnSection {
    pub(super) fn read(passkey: &Section<'_>, webauthn: &Section<'_>) -> Self {
        Self {
            passkeys_enabled: passkey.is_enabled(false),
            rp_id: webauthn.string("rp_id", ""),
            rp_display_name: webauthn.string("rp_display_name", ""),
            rp_origins: webauthn.strings("rp_origins", &[]),
        }
    }
}

impl MfaSection {
    pub(super) fn read(section: &Section<'_>) -> Self {
        let phone = section.section("phone");
        let codes = section.section("recovery_codes");
        let enabled = codes.bool("enabled", false);
        Self {
            max_enrolled_factors: section.integer("max_enrolled_factors", 10, 0..=1000),
            totp: read_switch(&section.section("totp")),
            phone: PhoneFactor {
                switch: read_switch(&phone),
                otp_length: phone.integer("otp_length", 6, 6..=10),
                template: super::phone::read_template(&phone),
                max_frequency: phone.duration("max_frequency", Duration::from_secs(5)),
            },
            web_authn: read_switch(&section.section("web_authn")),
            recovery_codes: RecoveryCodes {
                switch: FactorSwitch {
                    enroll_enabled: codes.bool("enroll_enabled", enabled),
                    verify_enabled: codes.bool("verify_enabled", enabled),
                },
                count: codes.integer("count", 10, 4..=16),
                code_length: codes.integer("code_length", 16, 13..=32),
                max_verify_attempts: codes.integer("max_verify_attempts", 5, 3..=15),
                lockout_duration: read_lockout(&codes),
            },
        }
    }
}

fn read_lockout(codes: &Section<'_>) -> Duration {
    let lockout = codes.duration("lockout_duration", Duration::from_secs(15 * 60));
    if !(SHORTEST_LOCKOUT..=LONGEST_LOCKOUT).contains(&lockout) {
        codes.report_error("lockout_duration", "must be from 1m to 24h");
    }
    lockout
}

fn read_switch(section: &Section<'_>) -> FactorSwitch {
    FactorSwitch {
        enroll_enabled: section.bool("enroll_enabled", false),
        verify_enabled: section.bool("verify_enabled", false),
    }
}
