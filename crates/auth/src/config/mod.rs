//! Settings of `/auth/v1`. The server crate fills them from `config.toml`; defaults are the Supabase CLI's.
//!
//! Names in parentheses are the keys of `config.toml`; `!key` means that the key has the opposite meaning. Settings
//! without such a name are set by the server crate or are keys of its own section. Source: Auth contract §10.

use std::num::NonZeroU32;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use selvedge_mail::MailKind;

mod factors;
mod phone;
mod protection;
mod saml;

pub use factors::{FactorSwitch, MfaConfig, PhoneFactorConfig, RecoveryCodesConfig, WebauthnConfig};
pub use phone::{PhoneConfig, SmsProviderConfig, TwilioConfig};
pub use protection::{
    CaptchaConfig, CaptchaProvider, HookConfig, HookConfigError, HooksConfig, LeakedPasswordConfig,
};
pub use saml::{SamlConfig, SamlSettings};

/// All settings of `/auth/v1`; one value per process, fixed at start.
#[derive(Debug, Clone)]
pub struct AuthConfig {
    /// URL of the project's site (`site_url`): browsers are redirected to it when a request names no allowed target.
    pub site_url: String,
    /// Globs of further allowed redirect targets (`additional_redirect_urls`).
    pub uri_allow_list: Vec<String>,
    /// URL of this service as clients see it, without a trailing slash; links in mails start with it.
    pub external_url: String,
    /// Further host names under which clients reach this service. When a proxy passes one of them in
    /// `X-Forwarded-Host`, links in the mails of that request start with it. Other values are ignored: they would let
    /// anybody direct a user's token elsewhere.
    pub external_hosts: Vec<String>,
    /// Whether the header `Sb-Forwarded-For` names the client's address. Safe only behind a proxy that sets or removes
    /// the header, because a client could otherwise choose the address that rate limits count.
    pub sb_forwarded_for: bool,
    /// `iss` of access tokens (`jwt_issuer`); left out when empty.
    pub jwt_issuer: String,
    /// `aud` of new users and of their access tokens.
    pub jwt_audience: String,
    /// Further audiences that `X-JWT-AUD` and tokens may name (`audiences`); each has its own users.
    pub audiences: Vec<String>,
    /// Whether tokens with a `sub` but without a session count as the user, as those that a project signs itself with its shared
    /// secret (`tokens_without_session`).
    pub tokens_without_session: bool,
    /// Whether providers of single sign-on confirm any address, as those of the original do, and not only those of their
    /// domains (`sso_confirms_any_address`).
    pub sso_confirms_any_address: bool,
    /// The database role of new users, and the `role` claim of their tokens.
    pub default_role: String,
    /// Roles whose tokens may call `/admin`.
    pub admin_roles: Vec<String>,
    /// Lifetime of an access token (`jwt_expiry`).
    pub jwt_expiry: Duration,
    /// Whether all sign-ups are rejected, by every method (`!enable_signup`).
    pub disable_signup: bool,
    /// Whether anonymous users may sign up (`enable_anonymous_sign_ins`).
    pub anonymous_users_enabled: bool,
    /// Whether users may link and unlink identities themselves (`enable_manual_linking`).
    pub manual_linking_enabled: bool,
    /// The enabled sign-in providers (`[auth.external.<provider>]`).
    pub external: Vec<ProviderConfig>,
    /// Whether providers may be called over plain http and on this machine. Only for development and tests: plain http
    /// would expose client secrets.
    pub insecure_providers: bool,
    /// Whether a browser may finish only those sign-ins by providers that it has begun, where it reaches the service by TLS.
    /// Default true.
    pub binds_callbacks: bool,
    /// Whether hooks, and providers that administrators add by the API, may be called at addresses of private networks.
    /// Only for development, and where those who may set them are trusted with the server's network.
    pub calls_private_addresses: bool,
    /// Sign-in with crypto wallets (`[auth.web3]`).
    pub web3: Web3Config,
    /// Sign-in by SAML (`[auth.saml]`); `None` while it is off.
    pub saml: Option<SamlConfig>,
    /// Whether SCIM discovery answers (`[auth.scim] enabled`).
    pub scim_enabled: bool,
    /// This server as an OAuth provider (`[auth.oauth_server]`).
    pub oauth_server: OauthServerConfig,
    /// Sign-in by e-mail, and its mails (`[auth.email]`).
    pub email: EmailConfig,
    /// Sign-in by phone, and its text messages (`[auth.sms]`).
    pub phone: PhoneConfig,
    /// Second factors (`[auth.mfa]`).
    pub mfa: MfaConfig,
    /// The relying party of WebAuthn factors and passkeys (`[auth.passkey]`).
    pub webauthn: WebauthnConfig,
    /// Functions and endpoints of the project that Auth calls (`[auth.hook]`).
    pub hooks: HooksConfig,
    /// The captcha that sign-up and sign-in demand (`[auth.captcha]`); `None` demands none.
    pub captcha: Option<CaptchaConfig>,
    /// Password rules and hashing.
    pub password: PasswordConfig,
    /// Rotation of refresh tokens.
    pub refresh: RefreshConfig,
    /// Limits of a session's lifetime (`[auth.sessions]`).
    pub sessions: SessionConfig,
    /// Limits per client and for messages (`[auth.rate_limit]`).
    pub rate_limits: RateLimitConfig,
    /// Whether audit entries are written to `auth.audit_log_entries`.
    pub audit_log_enabled: bool,
    /// Whether anonymous users are deleted 30 days after their sign-up, with all rows that refer to them.
    pub delete_old_anonymous_users: bool,
}

/// An enabled sign-in provider (`[auth.external.<provider>]`).
#[derive(Debug, Clone)]
pub struct ProviderConfig {
    /// Name of the provider, as in `/authorize?provider=`: `google`, `github`, …
    pub name: String,
    /// Our client ids at the provider (`client_id`, separated by commas). The first is used for the redirect flow; each
    /// is accepted as `aud` of ID tokens, because a project's mobile apps have client ids of their own.
    pub client_ids: Vec<String>,
    /// Our client secret (`secret`).
    pub secret: SecretString,
    /// Where the provider sends browsers back to (`redirect_uri`).
    pub redirect_uri: String,
    /// Base URL of a self-hosted provider such as GitLab; for Google and Apple, an issuer that replaces theirs (`url`).
    pub url: Option<String>,
    /// Whether ID tokens are accepted without comparing nonces (`skip_nonce_check`), for clients that cannot pass a
    /// nonce. A stolen ID token can then be replayed until it expires.
    pub skip_nonce_check: bool,
    /// Whether users without an e-mail address in the provider's profile are accepted (`email_optional`).
    pub email_optional: bool,
    /// Base URL of a development identity provider that answers in place of the provider's own hosts: the URL
    /// `https://host/path` is called as `<development_url>/host/path`. `None` calls the provider itself.
    pub development_url: Option<String>,
}

impl ProviderConfig {
    /// The client id of the redirect flow; empty when none is configured.
    pub(crate) fn client_id(&self) -> &str {
        self.client_ids.first().map_or("", String::as_str)
    }

    /// The client secret in clear, for a request to the provider.
    pub(crate) fn expose_secret(&self) -> &str {
        self.secret.expose_secret()
    }
}

/// Chains whose wallets may sign in with a signed message (`[auth.web3]`).
#[derive(Debug, Clone, Default)]
pub struct Web3Config {
    /// Whether Solana wallets may sign in (`[auth.web3.solana]`).
    pub solana: bool,
    /// Whether Ethereum wallets may sign in (`[auth.web3.ethereum]`).
    pub ethereum: bool,
}

/// `[auth.oauth_server]`: this server as an OAuth provider for other applications.
#[derive(Debug, Clone)]
pub struct OauthServerConfig {
    /// Whether the OAuth endpoints exist; while off they answer 404 `feature_disabled`.
    pub enabled: bool,
    /// Path of the project's consent page below the site's URL (`authorization_url_path`).
    pub authorization_path: String,
    /// Whether clients may register themselves (`allow_dynamic_registration`).
    pub allow_dynamic_registration: bool,
}

/// Sign-in by e-mail, and the mails of Auth (`[auth.email]`).
#[derive(Debug, Clone)]
pub struct EmailConfig {
    /// Whether users may sign up and sign in by e-mail (`enable_signup`).
    pub enabled: bool,
    /// Whether new addresses count as confirmed without a mail (`!enable_confirmations`).
    pub autoconfirm: bool,
    /// Whether a change of address must be confirmed at the current address, too (`double_confirm_changes`), so that
    /// somebody with a stolen session cannot take over the account.
    pub secure_change: bool,
    /// Shortest time between two mails to one user for one purpose (`max_frequency`).
    pub max_frequency: Duration,
    /// Number of digits of a code; 6 to 10, anything else counts as 6 (`otp_length`).
    pub otp_length: u8,
    /// Lifetime of a code or link (`otp_expiry`).
    pub otp_expiry: Duration,
    /// The only addresses to which mails are sent; empty allows every address. A `+label` in the recipient is ignored.
    pub authorized_addresses: Vec<String>,
    /// Kinds of notification that users get after a change of their account
    /// (`[auth.email.notification.<name>] enabled`). Those of passkeys by default.
    pub notifications: Vec<MailKind>,
    /// Whether mails are queued in the database until the SMTP server accepts them. Otherwise they are sent inside the
    /// request, which answers 500 and rolls back when the SMTP server does not accept the mail.
    pub queue: bool,
}

/// Password rules and hashing.
#[derive(Debug, Clone)]
pub struct PasswordConfig {
    /// Shortest password in bytes (`minimum_password_length`); a value below 6 counts as 6.
    pub min_length: usize,
    /// Sets of characters (`password_requirements`): a password needs at least one character of each set.
    pub required_characters: Vec<String>,
    /// Whether a session older than 24 hours needs a mailed nonce to change the password (`secure_password_change`).
    pub require_reauthentication: bool,
    /// Whether a change of password needs the current password.
    pub require_current: bool,
    /// bcrypt cost of new hashes: each step doubles the time that a hash takes.
    pub bcrypt_cost: u32,
    /// Threads for password hashing; 0 means one per core.
    pub hash_threads: usize,
    /// Number of hashes that may wait for a thread; further requests are answered 429.
    pub hash_queue: usize,
    /// The list of leaked passwords that new passwords are checked against; `None` checks none.
    pub leaked: Option<LeakedPasswordConfig>,
}

/// Rotation of refresh tokens.
#[derive(Debug, Clone)]
pub struct RefreshConfig {
    /// Whether reusing an old refresh token revokes all tokens of its session (`enable_refresh_token_rotation`): the
    /// reuse means that two parties have the token.
    pub rotation_enabled: bool,
    /// How long a used token may be used again (`refresh_token_reuse_interval`), for tabs that refresh at the same time
    /// and for clients that lost the response.
    pub reuse_interval: Duration,
    /// Whether new sessions get signed counters as refresh tokens (GoTrue's format v2) instead of rows in
    /// `auth.refresh_tokens`.
    pub counter_tokens: bool,
    /// Whether an old counter token is answered with the session's current token instead of ending the session.
    pub always_reuse: bool,
    /// How long a refresh waits for others of the same session before it is answered 409. Default 5 s.
    pub lock_wait: Duration,
}

impl RefreshConfig {
    /// The default of [`Self::lock_wait`]: several tabs of one browser are done by then, and a client that is answered
    /// 409 tries again.
    pub const LOCK_WAIT: Duration = Duration::from_secs(5);
}

/// Limits of a session's lifetime (`[auth.sessions]`). They are checked when a session is refreshed, so an access token
/// that was issued before stays valid until its `exp`. Source: Auth contract §4.4.
#[derive(Debug, Clone, Default)]
pub struct SessionConfig {
    /// How long after its sign-in a session may be refreshed; `None` means forever.
    pub timebox: Option<Duration>,
    /// How long after its last refresh a session may be refreshed again; `None` means forever.
    pub inactivity_timeout: Option<Duration>,
    /// How long a session of a user with a verified second factor may stay at `aal1`; `None` means forever.
    pub allow_low_aal: Option<Duration>,
    /// Whether a user has only one session per tag: the one that was created or refreshed last.
    pub single_per_user: bool,
    /// Known values of `auth.sessions.tag`, a column that the project's own SQL sets. For `single_per_user`, a session
    /// with an unknown tag or none counts as having the first of them.
    pub tags: Vec<String>,
}

/// Where rate limits take the client's address from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ClientAddress {
    /// No limits per address: the Supabase CLI's behaviour, for development.
    #[default]
    Unlimited,
    /// The address in this header, which a trusted proxy sets; of several, the last one, as clients can write the others.
    Header {
        name: String,
        /// Whether requests without an address there count for the address that the gateway determined; if not, they are not
        /// limited, for development.
        peer_otherwise: bool,
    },
    /// The client address that the gateway determined.
    Peer,
}

/// Rate limits (`[auth.rate_limit]`): requests per five minutes and client address, unless said otherwise. 0 switches a
/// limit per address off. Each node counts for itself. Source: Auth contract §3.7.
#[derive(Debug, Clone)]
pub struct RateLimitConfig {
    /// Where the client's address comes from.
    pub client: ClientAddress,
    /// `/verify` (`token_verifications`).
    pub verify: u32,
    /// `/token` with every grant type except `web3` (`token_refresh`).
    pub token: u32,
    /// `/otp`, `/magiclink`, `/recover`, `/resend`, `/signup` and `PUT /user`, each counted apart (`sign_in_sign_ups`).
    pub otp: u32,
    /// Anonymous sign-ups per hour (`anonymous_users`).
    pub anonymous_users: u32,
    /// Mails per hour that a node sends to all recipients together (`email_sent`); `None` means no limit, 0 rejects
    /// every mail. Not counted under [`EmailConfig::autoconfirm`], unless it is 0.
    pub emails_per_hour: Option<u32>,
    /// Text messages per hour that a node sends to all phones together (`sms_sent`); `None` means no limit, 0 rejects
    /// every message. Not counted under [`PhoneConfig::autoconfirm`], unless it is 0.
    pub sms_per_hour: Option<u32>,
    /// Challenges of second factors per minute, and as many verifications.
    pub mfa_per_minute: u32,
    /// Calls of the passkey endpoints for registration and sign-in, all together.
    pub passkeys: u32,
    /// `/token?grant_type=web3` (`web3`).
    pub web3: u32,
    /// `/oauth/clients/register`.
    pub client_registrations: u32,
    /// `/authorize`, `/user/identities/authorize` and `/oauth/authorize`, each of which stores a row.
    pub authorizations: u32,
    /// `/sso` (`sso`).
    pub sso: u32,
    /// `/sso/saml/acs` (`[auth.saml] rate_limit_assertion`).
    pub saml_assertions: u32,
}

impl AuthConfig {
    /// Whether the project has users of this audience.
    pub(crate) fn has_audience(&self, name: &str) -> bool {
        name == self.jwt_audience || self.audiences.iter().any(|known| known == name)
    }
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
            audiences: Vec::new(),
            tokens_without_session: false,
            sso_confirms_any_address: false,
            default_role: "authenticated".to_owned(),
            admin_roles: vec!["service_role".to_owned(), "supabase_admin".to_owned()],
            jwt_expiry: Duration::from_secs(3600),
            disable_signup: false,
            anonymous_users_enabled: false,
            manual_linking_enabled: false,
            external: Vec::new(),
            insecure_providers: false,
            binds_callbacks: true,
            calls_private_addresses: false,
            web3: Web3Config::default(),
            saml: None,
            scim_enabled: false,
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
                lock_wait: RefreshConfig::LOCK_WAIT,
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
            // The CLI's default: on a developer's machine sign-ups work without opening a mail.
            autoconfirm: true,
            secure_change: true,
            max_frequency: Duration::from_secs(1),
            otp_length: 6,
            otp_expiry: Duration::from_secs(3600),
            authorized_addresses: Vec::new(),
            notifications: vec![MailKind::PasskeyAdded, MailKind::PasskeyRemoved],
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
            // On one core, at about 50 ms per hash, the last of 256 requests waits 13 s.
            hash_queue: 256,
            leaked: None,
        }
    }
}

impl PasswordConfig {
    /// Returns the character sets that a value of `password_requirements` stands for; `None` for an unknown value.
    #[must_use]
    pub fn character_sets(requirements: &str) -> Option<Vec<String>> {
        const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
        const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        const DIGITS: &str = "0123456789";
        // The set of the Supabase CLI; it is shown to users in the error message.
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
            authorizations: 150,
            sso: 30,
            saml_assertions: 15,
        }
    }
}

impl RateLimitConfig {
    /// Returns the limit, or `None` when it is 0, which switches it off.
    pub(crate) fn non_zero_limit(limit: u32) -> Option<NonZeroU32> {
        NonZeroU32::new(limit)
    }
}
