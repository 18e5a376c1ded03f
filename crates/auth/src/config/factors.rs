//! `[auth.mfa]`, and what WebAuthn needs to know about the site.

use std::time::Duration;

/// `[auth.mfa]`
#[derive(Debug, Clone)]
pub struct MfaConfig {
    /// Factors per user (`max_enrolled_factors`).
    pub max_enrolled_factors: usize,
    /// Verified factors per user.
    pub max_verified_factors: usize,
    /// Life of a challenge.
    pub challenge_expiry: Duration,
    /// An unverified factor without a challenge goes after this time.
    pub factor_expiry: Duration,
    /// `[auth.mfa.totp]`
    pub totp: FactorSwitch,
    /// `[auth.mfa.phone]`
    pub phone: PhoneFactorConfig,
    /// `[auth.mfa.web_authn]`
    pub webauthn: FactorSwitch,
}

/// What may be done with one kind of factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FactorSwitch {
    /// New ones may be added (`enroll_enabled`).
    pub enroll: bool,
    /// Existing ones may be used (`verify_enabled`).
    pub verify: bool,
}

/// `[auth.mfa.phone]`
#[derive(Debug, Clone)]
pub struct PhoneFactorConfig {
    /// What may be done.
    pub switch: FactorSwitch,
    /// Digits of a code.
    pub otp_length: u8,
    /// The message; `{{ .Code }}` is the code.
    pub template: String,
    /// Least time between two messages.
    pub max_frequency: Duration,
}

/// The relying party of WebAuthn factors and passkeys.
#[derive(Debug, Clone, Default)]
pub struct WebauthnConfig {
    /// Passkeys as a way to sign in (`[auth.passkey] enabled`).
    pub passkeys_enabled: bool,
    /// Domain that credentials belong to (`rp_id`); empty: the host of the site URL.
    pub rp_id: String,
    /// What the browser shows (`rp_display_name`); empty: `rp_id`.
    pub rp_display_name: String,
    /// Where ceremonies may take place (`rp_origins`); empty: the origin of the site URL.
    pub rp_origins: Vec<String>,
}

impl Default for MfaConfig {
    fn default() -> Self {
        Self {
            max_enrolled_factors: 10,
            max_verified_factors: 10,
            challenge_expiry: Duration::from_secs(300),
            factor_expiry: Duration::from_secs(300),
            totp: FactorSwitch::default(),
            phone: PhoneFactorConfig {
                switch: FactorSwitch::default(),
                otp_length: 6,
                template: "Your code is {{ .Code }}".to_owned(),
                max_frequency: Duration::from_secs(5),
            },
            webauthn: FactorSwitch::default(),
        }
    }
}
