//! `[auth.mfa]` and `[auth.passkey]`: second factors and passkeys. Source: Auth contract §2.12, §2.13, §10.

use std::time::Duration;

/// Limits of second factors, and the types of factor that are allowed (`[auth.mfa]`).
#[derive(Debug, Clone)]
pub struct MfaConfig {
    /// Largest number of factors per user, verified or not (`max_enrolled_factors`); passkeys are not counted.
    pub max_enrolled_factors: usize,
    /// Largest number of verified factors per user.
    pub max_verified_factors: usize,
    /// How long a challenge may be verified after `POST /factors/{id}/challenge` created it.
    pub challenge_expiry: Duration,
    /// An unverified factor whose last challenge is older than this is deleted when its user enrolls another one.
    pub factor_expiry: Duration,
    /// Authenticator apps (`[auth.mfa.totp]`).
    pub totp: FactorSwitch,
    /// Codes by text message (`[auth.mfa.phone]`).
    pub phone: PhoneFactorConfig,
    /// Security keys and platform authenticators as second factors (`[auth.mfa.web_authn]`).
    pub webauthn: FactorSwitch,
    /// Codes on paper, in place of the other factors (`[auth.mfa.recovery_codes]`).
    pub recovery_codes: RecoveryCodesConfig,
}

/// Whether one type of factor may be enrolled and verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FactorSwitch {
    /// Whether users may add factors of this type (`enroll_enabled`).
    pub enroll: bool,
    /// Whether factors of this type may be challenged and verified (`verify_enabled`).
    pub verify: bool,
}

/// Recovery codes (`[auth.mfa.recovery_codes]`).
#[derive(Debug, Clone)]
pub struct RecoveryCodesConfig {
    /// Whether codes may be generated and used.
    pub switch: FactorSwitch,
    /// Codes of a set (`count`).
    pub count: usize,
    /// Letters of a code (`code_length`), 13 to 32.
    pub code_length: usize,
    /// Wrong codes after which the set is locked (`max_verify_attempts`).
    pub max_verify_attempts: i32,
    /// How long it is locked (`lockout_duration`).
    pub lockout: Duration,
}

/// Second factors by text message (`[auth.mfa.phone]`).
#[derive(Debug, Clone)]
pub struct PhoneFactorConfig {
    /// Whether phone factors may be enrolled and verified.
    pub switch: FactorSwitch,
    /// Number of digits of a code; 6 to 10, anything else counts as 6.
    pub otp_length: u8,
    /// Text of the message; `{{ .Code }}` is replaced by the code.
    pub template: String,
    /// Shortest time between two messages to the same factor.
    pub max_frequency: Duration,
}

/// The relying party of WebAuthn factors and passkeys.
#[derive(Debug, Clone, Default)]
pub struct WebauthnConfig {
    /// Whether users may register passkeys and sign in with them (`[auth.passkey] enabled`).
    pub passkeys_enabled: bool,
    /// Domain that credentials are bound to (`rp_id`); empty: the host of the site URL.
    pub rp_id: String,
    /// Name that the browser shows (`rp_display_name`); empty: `rp_id`.
    pub rp_display_name: String,
    /// Origins (`https://host[:port]`) whose pages may run a ceremony (`rp_origins`); empty: the origin of the site
    /// URL.
    pub rp_origins: Vec<String>,
}

impl Default for MfaConfig {
    fn default() -> Self {
        Self {
            max_enrolled_factors: 10,
            max_verified_factors: 10,
            // GoTrue's defaults: `config.toml` has no keys for these two times.
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
            recovery_codes: RecoveryCodesConfig {
                switch: FactorSwitch::default(),
                count: 10,
                code_length: 16,
                max_verify_attempts: 5,
                lockout: Duration::from_secs(15 * 60),
            },
        }
    }
}
