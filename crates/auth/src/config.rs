//! Everything about the service that a project can set. The server fills it from `config.toml`; defaults are the Supabase CLI's.
//!
//! Source: Auth contract §10.

use std::num::NonZeroU32;
use std::time::Duration;

use secrecy::SecretString;
use selvedge_mail::MailKind;

mod factors;
mod phone;
mod protection;

pub use factors::{FactorSwitch, MfaConfig, PhoneFactorConfig, WebauthnConfig};
pub use phone::{PhoneConfig, SmsProviderConfig, TwilioConfig};
pub use protection::{
    CaptchaConfig, CaptchaProvider, HookConfig, HookConfigError, HooksConfig, LeakedPasswordConfig,
};

/// The settings of `/auth/v1`.
#[derive(Debug, Clone)]
pub struct AuthConfig {
    /// Where redirects lead when nothing better is allowed (`site_url`).
    pub site_url: String,
    /// Globs of further redirect targets (`additional_redirect_urls`).
    pub uri_allow_list: Vec<String>,
    /// URL of this service as clients see it, without a trailing slash; links in mails start with it.
    pub external_url: String,
    /// Further host names under which clients reach this service. A request that came through a proxy under one of them
    /// (`X-Forwarded-Host`) gets mails with links to it.
    pub external_hosts: Vec<String>,
    /// Whether `Sb-Forwarded-For` names the client's address. Only behind a proxy that sets or removes it.
    pub sb_forwarded_for: bool,
    /// `iss` of access tokens (`jwt_issuer`); left out when empty.
    pub jwt_issuer: String,
    /// `aud` of users and tokens.
    pub jwt_audience: String,
    /// `role` of new users.
    pub default_role: String,
    /// Roles whose tokens may call `/admin`.
    pub admin_roles: Vec<String>,
    /// Life of an access token (`jwt_expiry`).
    pub jwt_expiry: Duration,
    /// Refuses every new user (`!enable_signup`).
    pub disable_signup: bool,
    /// Sign-in without any address (`enable_anonymous_sign_ins`).
    pub anonymous_users_enabled: bool,
    /// Whether users may link and unlink identities themselves (`enable_manual_linking`).
    pub manual_linking_enabled: bool,
    /// `[auth.external.<provider>]`, the enabled ones.
    pub external: Vec<ProviderConfig>,
    /// Issuers whose ID tokens are accepted under any client id that the caller names.
    pub allowed_id_token_issuers: Vec<String>,
    /// Whether providers may be called over plain http: for development and tests.
    pub insecure_providers: bool,
    /// `[auth.web3]`
    pub web3: Web3Config,
    /// `[auth.oauth_server]`
    pub oauth_server: OauthServerConfig,
    /// `[auth.email]`
    pub email: EmailConfig,
    /// `[auth.sms]`
    pub phone: PhoneConfig,
    /// `[auth.mfa]`
    pub mfa: MfaConfig,
    /// The relying party of WebAuthn, and passkeys.
    pub webauthn: WebauthnConfig,
    /// `[auth.hook]`
    pub hooks: HooksConfig,
    /// `[auth.captcha]`
    pub captcha: Option<CaptchaConfig>,
    /// Password rules and hashing.
    pub password: PasswordConfig,
    /// Rotation of refresh tokens.
    pub refresh: RefreshConfig,
    /// `[auth.sessions]`
    pub sessions: SessionConfig,
    /// `[auth.rate_limit]`
    pub rate_limits: RateLimitConfig,
    /// Whether audit entries are written to `auth.audit_log_entries`.
    pub audit_log_enabled: bool,
    /// Removes anonymous users after 30 days, with everything that hangs on them.
    pub delete_old_anonymous_users: bool,
}

/// `[auth.external.<provider>]`
#[derive(Debug, Clone)]
pub struct ProviderConfig {
    /// `google`, `github`, …
    pub name: String,
    /// Our ids with the provider: the first for the web flow, all as audiences of ID tokens (`client_id`, a comma list).
    pub client_ids: Vec<String>,
    /// Our secret with the provider (`secret`).
    pub secret: SecretString,
    /// Where the provider sends browsers back to (`redirect_uri`).
    pub redirect_uri: String,
    /// Base of a provider that one hosts oneself; for Google and Apple the issuer that stands in for them (`url`).
    pub url: Option<String>,
    /// Accepts ID tokens without comparing nonces (`skip_nonce_check`).
    pub skip_nonce_check: bool,
    /// Lets people in whose provider tells no address (`email_optional`).
    pub email_optional: bool,
}

/// `[auth.web3]`: sign-in by a message that a wallet has signed.
#[derive(Debug, Clone, Default)]
pub struct Web3Config {
    /// `[auth.web3.solana]`
    pub solana: bool,
    /// `[auth.web3.ethereum]`
    pub ethereum: bool,
}

/// `[auth.oauth_server]`: other people's programs sign users in with us.
#[derive(Debug, Clone)]
pub struct OauthServerConfig {
    /// Off by default.
    pub enabled: bool,
    /// Path of the consent page below the site's URL (`authorization_url_path`).
    pub authorization_path: String,
    /// Whether programs may register themselves (`allow_dynamic_registration`).
    pub allow_dynamic_registration: bool,
}

/// `[auth.email]`
#[derive(Debug, Clone)]
pub struct EmailConfig {
    /// Sign-up and sign-in by e-mail (`enable_signup`).
    pub enabled: bool,
    /// New addresses count as confirmed at once (`!enable_confirmations`).
    pub autoconfirm: bool,
    /// A change of address must be confirmed at the old address, too (`double_confirm_changes`).
    pub secure_change: bool,
    /// Least time between two mails to one user for one purpose (`max_frequency`).
    pub max_frequency: Duration,
    /// Digits of a code; 6 to 10 (`otp_length`).
    pub otp_length: u8,
    /// Life of a code or link (`otp_expiry`).
    pub otp_expiry: Duration,
    /// When not empty, mails go to these addresses only; a `+label` is ignored.
    pub authorized_addresses: Vec<String>,
    /// Mails that tell of a change (`[auth.email.notification.<name>] enabled`).
    pub notifications: Vec<MailKind>,
    /// Mails are kept in the database until the SMTP server has taken them. Otherwise they are sent inside the request, which
    /// fails with them. The inbox of development needs neither.
    pub queue: bool,
}

/// Password rules and hashing.
#[derive(Debug, Clone)]
pub struct PasswordConfig {
    /// Least length in bytes (`minimum_password_length`); below 6 counts as 6.
    pub min_length: usize,
    /// One character of each of these sets is needed (`password_requirements`).
    pub required_characters: Vec<String>,
    /// A session older than a day needs a mailed nonce to change the password (`secure_password_change`).
    pub require_reauthentication: bool,
    /// Changing a password needs the current one.
    pub require_current: bool,
    /// bcrypt cost.
    pub bcrypt_cost: u32,
    /// Threads that hash; 0 means one per core.
    pub hash_threads: usize,
    /// Hashes that may wait for a thread; beyond it requests are answered 429.
    pub hash_queue: usize,
    /// Refuses passwords that are on a public list.
    pub leaked: Option<LeakedPasswordConfig>,
}

/// Rotation of refresh tokens.
#[derive(Debug, Clone)]
pub struct RefreshConfig {
    /// Using a token twice ends the session's tokens (`enable_refresh_token_rotation`).
    pub rotation_enabled: bool,
    /// For so long a used token may be used again (`refresh_token_reuse_interval`).
    pub reuse_interval: Duration,
    /// New sessions get tokens that are signed counters instead of rows.
    pub counter_tokens: bool,
    /// Old counter tokens get the current one instead of ending their session.
    pub always_reuse: bool,
}

/// `[auth.sessions]`
#[derive(Debug, Clone, Default)]
pub struct SessionConfig {
    /// A session ends so long after its sign-in.
    pub timebox: Option<Duration>,
    /// A session ends so long after its last refresh.
    pub inactivity_timeout: Option<Duration>,
    /// Users with a second factor may stay at `aal1` for so long.
    pub allow_low_aal: Option<Duration>,
    /// Only the session refreshed last may refresh, per tag.
    pub single_per_user: bool,
    /// Kinds of sessions (`auth.sessions.tag`, which the project's own SQL sets); each has a single session of its own, and
    /// a session of no kind counts as the first.
    pub tags: Vec<String>,
}

/// How a client is told from another for rate limits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ClientAddress {
    /// No limits per address: the Supabase CLI's behaviour, for development.
    #[default]
    Unlimited,
    /// The first value of this header, set by a trusted proxy. Requests without it are not limited.
    Header(String),
    /// The address the gateway found.
    Peer,
}

/// `[auth.rate_limit]`: requests per five minutes and address, unless said otherwise. 0 switches a limit off.
#[derive(Debug, Clone)]
pub struct RateLimitConfig {
    /// What counts as one client.
    pub client: ClientAddress,
    /// `/verify` (`token_verifications`).
    pub verify: u32,
    /// `/token`, all grants but that of wallets (`token_refresh`).
    pub token: u32,
    /// `/otp`, `/magiclink`, `/recover`, `/resend`, `/signup` and `PUT /user`, each (`sign_in_sign_ups`).
    pub otp: u32,
    /// Anonymous sign-ups per hour (`anonymous_users`).
    pub anonymous_users: u32,
    /// Mails per hour of the whole instance (`email_sent`); `None` means no limit.
    pub emails_per_hour: Option<u32>,
    /// Text messages per hour of the whole instance (`sms_sent`); `None` means no limit.
    pub sms_per_hour: Option<u32>,
    /// Challenges and verifications of second factors, each, per minute.
    pub mfa_per_minute: u32,
    /// Ceremonies of passkeys.
    pub passkeys: u32,
    /// Sign-ins of wallets (`web3`).
    pub web3: u32,
    /// Programs that register themselves with the OAuth server.
    pub client_registrations: u32,
}

impl Default for AuthConfig {
    fn default() -> Self {
        Self {
            site_url: "http://127.0.0.1:3000".to_owned(),
            uri_allow_list: Vec::new(),
            external_url: "http://127.0.0.1:54321/auth/v1".to_owned(),
            external_hosts: Vec::new(),
            sb_forwarded_for: false,
            jwt_issuer: "http://127.0.0.1:54321/auth/v1".to_owned(),
            jwt_audience: "authenticated".to_owned(),
            default_role: "authenticated".to_owned(),
            admin_roles: vec!["service_role".to_owned(), "supabase_admin".to_owned()],
            jwt_expiry: Duration::from_secs(3600),
            disable_signup: false,
            anonymous_users_enabled: false,
            manual_linking_enabled: false,
            external: Vec::new(),
            allowed_id_token_issuers: Vec::new(),
            insecure_providers: false,
            web3: Web3Config::default(),
            oauth_server: OauthServerConfig::default(),
            email: EmailConfig::default(),
            phone: PhoneConfig::default(),
            mfa: MfaConfig::default(),
            webauthn: WebauthnConfig::default(),
            hooks: HooksConfig::default(),
            captcha: None,
            password: PasswordConfig::default(),
            refresh: RefreshConfig {
                rotation_enabled: true,
                reuse_interval: Duration::from_secs(10),
                counter_tokens: false,
                always_reuse: false,
            },
            sessions: SessionConfig::default(),
            rate_limits: RateLimitConfig::default(),
            audit_log_enabled: true,
            delete_old_anonymous_users: false,
        }
    }
}

impl Default for OauthServerConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            authorization_path: "/oauth/consent".to_owned(),
            allow_dynamic_registration: false,
        }
    }
}

impl Default for EmailConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            autoconfirm: true,
            secure_change: true,
            max_frequency: Duration::from_secs(1),
            otp_length: 6,
            otp_expiry: Duration::from_secs(3600),
            authorized_addresses: Vec::new(),
            notifications: Vec::new(),
            queue: true,
        }
    }
}

impl Default for PasswordConfig {
    fn default() -> Self {
        Self {
            min_length: 6,
            required_characters: Vec::new(),
            require_reauthentication: false,
            require_current: false,
            bcrypt_cost: 10,
            hash_threads: 0,
            hash_queue: 256,
            leaked: None,
        }
    }
}

impl PasswordConfig {
    /// The character sets behind a name of `password_requirements`; `None` for an unknown name.
    #[must_use]
    pub fn character_sets(requirements: &str) -> Option<Vec<String>> {
        const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
        const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        const DIGITS: &str = "0123456789";
        const SYMBOLS: &str = "!@#$%^&*()_+-=[]{};'\\:\"|<>?,./`~";
        let letters = format!("{LOWER}{UPPER}");
        let sets: Vec<&str> = match requirements {
            "" => vec![],
            "letters_digits" => vec![&letters, DIGITS],
            "lower_upper_letters_digits" => vec![LOWER, UPPER, DIGITS],
            "lower_upper_letters_digits_symbols" => vec![LOWER, UPPER, DIGITS, SYMBOLS],
            _ => return None,
        };
        Some(sets.into_iter().map(str::to_owned).collect())
    }
}

impl Default for RateLimitConfig {
    fn default() -> Self {
        Self {
            client: ClientAddress::Unlimited,
            verify: 30,
            token: 150,
            otp: 30,
            anonymous_users: 30,
            emails_per_hour: None,
            sms_per_hour: None,
            mfa_per_minute: 15,
            passkeys: 30,
            web3: 30,
            client_registrations: 10,
        }
    }
}

impl RateLimitConfig {
    /// A limit as a number that cannot be zero; zero means none.
    pub(crate) fn positive(limit: u32) -> Option<NonZeroU32> {
        NonZeroU32::new(limit)
    }
}
