//! `[auth]`: accounts, tokens, keys; one file per group of sub-sections.

mod email;
mod external;
mod factors;
mod phone;

use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;

use super::section::Section;
pub use email::{EmailSection, EmailTemplate, NotificationTemplate, SmtpSection};
pub use external::{HookSection, OauthServerSection, ProviderSection, ThirdParty};
pub use factors::{FactorSwitch, MfaSection, PhoneFactor, WebauthnSection};
pub use phone::{SmsProvider, SmsSection, Twilio};

/// `[auth]`.
#[derive(Debug, Clone)]
pub struct AuthSection {
    /// Whether `/auth/v1` is served. Default true.
    pub enabled: bool,
    /// Where mails and sign-ins lead when no redirect is asked for. Default `http://127.0.0.1:3000`.
    pub site_url: String,
    /// The URL at which auth is reached, when it is not the API's.
    pub external_url: Option<String>,
    /// Further addresses that may be redirected to (globs allowed). Default `https://127.0.0.1:3000`.
    pub additional_redirect_urls: Vec<String>,
    /// Life of an access token in seconds, at most 604 800. Default 3600.
    pub jwt_expiry_seconds: u64,
    /// `iss` of access tokens. Default `<api url>/auth/v1`.
    pub jwt_issuer: Option<String>,
    /// A JSON file with private JWKs, relative to the project; the first one signs.
    pub signing_keys_path: Option<PathBuf>,
    /// Whether a refresh token is replaced at its use. Default true.
    pub enable_refresh_token_rotation: bool,
    /// Seconds in which a used refresh token may be used again. Default 10.
    pub refresh_token_reuse_interval_seconds: u64,
    /// Whether new accounts may be made. Default true.
    pub enable_signup: bool,
    /// Default false.
    pub enable_anonymous_sign_ins: bool,
    /// Default false.
    pub enable_manual_linking: bool,
    /// Default 6, at least 6.
    pub minimum_password_length: usize,
    /// Which kinds of characters a password needs. Default: any.
    pub password_requirements: PasswordRequirements,
    /// Keys and secrets; what is absent is the well-known development one in `start`.
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
    /// `[auth.third_party.<name>]`, the enabled ones.
    pub third_party: Vec<ThirdParty>,
    /// `[auth.web3.solana] enabled`. Default false.
    pub web3_solana: bool,
    /// `[auth.web3.ethereum] enabled`. Default false.
    pub web3_ethereum: bool,
    /// `[auth.oauth_server]`.
    pub oauth_server: OauthServerSection,
}

/// The key set of `[auth]`; nothing here is ever logged.
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
    /// No rule beyond the length.
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
    /// Mails per hour; counts only with an SMTP server of one's own. Default 2.
    pub email_sent: u32,
    /// Text messages per hour. Default 30.
    pub sms_sent: u32,
    /// Anonymous sign-ins per hour and address. Default 30.
    pub anonymous_users: u32,
    /// Refreshes per 5 minutes and address. Default 150.
    pub token_refresh: u32,
    /// Sign-ins and sign-ups per 5 minutes and address. Default 30.
    pub sign_in_sign_ups: u32,
    /// Verifications per 5 minutes and address. Default 30.
    pub token_verifications: u32,
    /// Web3 sign-ins per 5 minutes and address. Default 30.
    pub web3: u32,
}

/// `[auth.captcha]`.
#[derive(Debug, Clone)]
pub struct CaptchaSection {
    /// Who checks.
    pub provider: CaptchaProvider,
    /// Our secret with them.
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
    /// `repository` is the folder that e-mail template paths are relative to.
    pub(super) fn read(section: &Section<'_>, project: &Path, repository: &Path) -> Self {
        let sessions = section.section("sessions");
        let web3 = section.section("web3");
        Self {
            enabled: section.enabled(true),
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
                0..=86_400,
            ),
            enable_signup: section.bool("enable_signup", true),
            enable_anonymous_sign_ins: section.bool("enable_anonymous_sign_ins", false),
            enable_manual_linking: section.bool("enable_manual_linking", false),
            minimum_password_length: section.integer("minimum_password_length", 6, 6..=72),
            password_requirements: password_requirements(section),
            keys: KeySection::read(section),
            rate_limit: RateLimitSection::read(&section.section("rate_limit")),
            captcha: captcha(&section.section("captcha")),
            email: EmailSection::read(&section.section("email"), project, repository),
            sms: SmsSection::read(&section.section("sms")),
            session_timebox: sessions.optional_duration("timebox").filter(|d| !d.is_zero()),
            session_inactivity_timeout: sessions
                .optional_duration("inactivity_timeout")
                .filter(|d| !d.is_zero()),
            hooks: external::hooks(&section.section("hook")),
            mfa: MfaSection::read(&section.section("mfa")),
            webauthn: WebauthnSection::read(&section.section("passkey"), &section.section("webauthn")),
            external: external::providers(&section.section("external")),
            third_party: external::third_party(&section.section("third_party")),
            web3_solana: web3.section("solana").enabled(false),
            web3_ethereum: web3.section("ethereum").enabled(false),
            oauth_server: OauthServerSection::read(&section.section("oauth_server")),
        }
    }
}

fn url_text(section: &Section<'_>, key: &str, default: &str) -> String {
    let text = section.string(key, default);
    if !text.starts_with("env(") && url::Url::parse(&text).is_err() {
        section.refuse(key, "is not a URL such as \"http://127.0.0.1:3000\"");
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

fn captcha(section: &Section<'_>) -> Option<CaptchaSection> {
    let enabled = section.enabled(false);
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
        }
    }
}
