//! `[auth]`: accounts, tokens, keys; one file per group of sub-sections.

mod email;
mod external;
mod factors;
mod phone;
mod saml;

use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;

use crate::reader::section::Section;
pub use email::{EmailSection, EmailTemplate, NotificationTemplate, SmtpSection};
pub use external::{HookSection, OauthServerSection, ProviderSection, ThirdParty};
pub use factors::{FactorSwitch, MfaSection, PhoneFactor, WebauthnSection};
pub use phone::{SmsProvider, SmsSection, Twilio};
pub use saml::SamlSection;

/// `[auth]`.
#[derive(Debug, Clone)]
pub struct AuthSection {
    /// Whether `/auth/v1` is served. Default true.
    pub enabled: bool,
    /// The URL to which links in mails and sign-ins redirect by default. Default `http://127.0.0.1:3000`.
    pub site_url: String,
    /// The URL of the auth service. Default: `<api url>/auth/v1`.
    pub external_url: Option<String>,
    /// Further URLs to which redirects are allowed; may be glob patterns. Default `https://127.0.0.1:3000`.
    pub additional_redirect_urls: Vec<String>,
    /// Lifetime of an access token in seconds, at most 604 800. Default 3600.
    pub jwt_expiry_seconds: u64,
    /// `iss` of access tokens. Default `<api url>/auth/v1`.
    pub jwt_issuer: Option<String>,
    /// A JSON file with private JWKs, relative to the project; the first one signs.
    pub signing_keys_path: Option<PathBuf>,
    /// Whether a refresh token is replaced when it is used. Default true.
    pub enable_refresh_token_rotation: bool,
    /// Seconds for which a used refresh token may be used again. Default 10.
    pub refresh_token_reuse_interval_seconds: u64,
    /// Whether accounts may be created. Default true.
    pub enable_signup: bool,
    /// Whether users may sign in anonymously. Default false.
    pub enable_anonymous_sign_ins: bool,
    /// Whether users may link and unlink identities themselves. Default false.
    pub enable_manual_linking: bool,
    /// The minimum number of characters of a password: 6 (default) to 72.
    pub minimum_password_length: usize,
    /// The kinds of characters that a password must contain. Default: no requirement.
    pub password_requirements: PasswordRequirements,
    /// Keys and secrets. In `start`, missing ones are the well-known development keys.
    pub keys: KeySection,
    /// `[auth.rate_limit]`.
    pub rate_limit: RateLimitSection,
    /// `[auth.captcha]`, when enabled.
    pub captcha: Option<CaptchaSection>,
    /// `[auth.email]`.
    pub email: EmailSection,
    /// `[auth.sms]`.
    pub sms: SmsSection,
    /// `[auth.sessions] timebox`. Default: none.
    pub session_timebox: Option<Duration>,
    /// `[auth.sessions] inactivity_timeout`. Default: none.
    pub session_inactivity_timeout: Option<Duration>,
    /// `[auth.hook.<name>]`, the enabled ones.
    pub hooks: Vec<HookSection>,
    /// `[auth.mfa]`.
    pub mfa: MfaSection,
    /// `[auth.passkey]` and `[auth.webauthn]`.
    pub webauthn: WebauthnSection,
    /// `[auth.external.<provider>]`, the enabled ones.
    pub external: Vec<ProviderSection>,
    /// `[auth.third_party.<name>]`, the enabled one.
    pub third_party: Option<ThirdParty>,
    /// `[auth.web3.solana] enabled`. Default false.
    pub web3_solana: bool,
    /// `[auth.web3.ethereum] enabled`. Default false.
    pub web3_ethereum: bool,
    /// `[auth.saml]`.
    pub saml: SamlSection,
    /// `[auth.scim] enabled`: whether SCIM discovery answers. Default false.
    pub scim_enabled: bool,
    /// `[auth.oauth_server]`.
    pub oauth_server: OauthServerSection,
}

/// The keys of `[auth]`. They are never logged.
#[derive(Debug, Clone, Default)]
pub struct KeySection {
    /// `publishable_key`: `sb_publishable_…`.
    pub publishable_key: Option<SecretString>,
    /// `secret_key`: `sb_secret_…`.
    pub secret_key: Option<SecretString>,
    /// `jwt_secret`: signs HS256, at least 16 characters.
    pub jwt_secret: Option<SecretString>,
    /// `anon_key`: a JWT of role anon. Default: derived from `jwt_secret`.
    pub anon_key: Option<SecretString>,
    /// `service_role_key`: a JWT of role service_role. Default: derived from `jwt_secret`.
    pub service_role_key: Option<SecretString>,
}

/// `password_requirements`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordRequirements {
    /// No requirement on the characters.
    Any,
    /// `letters_digits`.
    LettersDigits,
    /// `lower_upper_letters_digits`.
    LowerUpperLettersDigits,
    /// `lower_upper_letters_digits_symbols`.
    LowerUpperLettersDigitsSymbols,
}

/// `[auth.rate_limit]`.
#[derive(Debug, Clone)]
pub struct RateLimitSection {
    /// Mails per hour, when an SMTP server is configured. Default 2.
    pub email_sent: u32,
    /// Text messages per hour. Default 30.
    pub sms_sent: u32,
    /// Anonymous sign-ins per hour and client address. Default 30.
    pub anonymous_users: u32,
    /// Token refreshes per 5 minutes and client address. Default 150.
    pub token_refresh: u32,
    /// Sign-ins and sign-ups per 5 minutes and client address. Default 30.
    pub sign_in_sign_ups: u32,
    /// Verifications of links and codes per 5 minutes and client address. Default 30.
    pub token_verifications: u32,
    /// Web3 sign-ins per 5 minutes and client address. Default 30.
    pub web3: u32,
    /// `/sso`, the start of a sign-in by SAML, per five minutes and client address. Default 30.
    pub sso: u32,
}

/// `[auth.captcha]`.
#[derive(Debug, Clone)]
pub struct CaptchaSection {
    /// The captcha service.
    pub provider: CaptchaProvider,
    /// The project's secret at that service.
    pub secret: Option<SecretString>,
}

/// `[auth.captcha] provider`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptchaProvider {
    /// hcaptcha.com
    Hcaptcha,
    /// Cloudflare Turnstile
    Turnstile,
}

impl AuthSection {
    /// Reads `[auth]`. Paths of e-mail templates are relative to `repository`, other paths to `project`.
    pub(crate) fn read(section: &Section<'_>, project: &Path, repository: &Path) -> Self {
        let sessions = section.section("sessions");
        let web3 = section.section("web3");
        Self {
            enabled: section.is_enabled(true),
            site_url: url_text(section, "site_url", "http://127.0.0.1:3000"),
            external_url: section.optional_string("external_url"),
            additional_redirect_urls: section
                .strings("additional_redirect_urls", &["https://127.0.0.1:3000"]),
            jwt_expiry_seconds: section.integer("jwt_expiry", 3600, 1..=604_800),
            jwt_issuer: section.optional_string("jwt_issuer"),
            signing_keys_path: section.optional_path("signing_keys_path", project),
            enable_refresh_token_rotation: section.bool("enable_refresh_token_rotation", true),
            refresh_token_reuse_interval_seconds: section.integer(
                "refresh_token_reuse_interval",
                10,
                0..=u64::from(u32::MAX),
            ),
            enable_signup: section.bool("enable_signup", true),
            enable_anonymous_sign_ins: section.bool("enable_anonymous_sign_ins", false),
            enable_manual_linking: section.bool("enable_manual_linking", false),
            minimum_password_length: section.integer("minimum_password_length", 6, 6..=72),
            password_requirements: password_requirements(section),
            keys: KeySection::read(section),
            rate_limit: RateLimitSection::read(&section.section("rate_limit")),
            captcha: read_captcha(&section.section("captcha")),
            email: EmailSection::read(&section.section("email"), project, repository),
            sms: SmsSection::read(&section.section("sms")),
            session_timebox: sessions.optional_duration("timebox").filter(|d| !d.is_zero()),
            session_inactivity_timeout: sessions
                .optional_duration("inactivity_timeout")
                .filter(|d| !d.is_zero()),
            hooks: external::read_hooks(&section.section("hook")),
            mfa: MfaSection::read(&section.section("mfa")),
            webauthn: WebauthnSection::read(&section.section("passkey"), &section.section("webauthn")),
            external: external::read_providers(&section.section("external")),
            third_party: external::read_third_party(&section.section("third_party")),
            web3_solana: web3.section("solana").is_enabled(false),
            web3_ethereum: web3.section("ethereum").is_enabled(false),
            saml: SamlSection::read(&section.section("saml")),
            scim_enabled: section.section("scim").is_enabled(false),
            oauth_server: OauthServerSection::read(&section.section("oauth_server")),
        }
    }
}

fn url_text(section: &Section<'_>, key: &str, default: &str) -> String {
    let text = section.string(key, default);
    if !text.starts_with("env(") && url::Url::parse(&text).is_err() {
        section.report_error(key, "is not a URL such as \"http://127.0.0.1:3000\"");
    }
    text
}

fn password_requirements(section: &Section<'_>) -> PasswordRequirements {
    use PasswordRequirements::{Any, LettersDigits, LowerUpperLettersDigits, LowerUpperLettersDigitsSymbols};
    section.choice(
        "password_requirements",
        Any,
        &[
            ("", Any),
            ("letters_digits", LettersDigits),
            ("lower_upper_letters_digits", LowerUpperLettersDigits),
            (
                "lower_upper_letters_digits_symbols",
                LowerUpperLettersDigitsSymbols,
            ),
        ],
    )
}

fn read_captcha(section: &Section<'_>) -> Option<CaptchaSection> {
    let enabled = section.is_enabled(false);
    let provider = section.choice(
        "provider",
        CaptchaProvider::Hcaptcha,
        &[
            ("hcaptcha", CaptchaProvider::Hcaptcha),
            ("turnstile", CaptchaProvider::Turnstile),
        ],
    );
    let secret = section.optional_secret("secret");
    enabled.then_some(CaptchaSection { provider, secret })
}

impl KeySection {
    fn read(section: &Section<'_>) -> Self {
        Self {
            publishable_key: section.optional_secret("publishable_key"),
            secret_key: section.optional_secret("secret_key"),
            jwt_secret: section.optional_secret("jwt_secret"),
            anon_key: section.optional_secret("anon_key"),
            service_role_key: section.optional_secret("service_role_key"),
        }
    }
}

impl RateLimitSection {
    fn read(section: &Section<'_>) -> Self {
        let limit = |key, default| section.integer(key, default, 0..=u32::MAX);
        Self {
            email_sent: limit("email_sent", 2),
            sms_sent: limit("sms_sent", 30),
            anonymous_users: limit("anonymous_users", 30),
            token_refresh: limit("token_refresh", 150),
            sign_in_sign_ups: limit("sign_in_sign_ups", 30),
            token_verifications: limit("token_verifications", 30),
            web3: limit("web3", 30),
            sso: limit("sso", 30),
        }
    }
}
