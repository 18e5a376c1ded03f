//! `[selvedge.auth]`: settings that Supabase's auth service reads from its environment, and the CLI's `config.toml` lacks.

use std::time::Duration;

use selvedge_mail::SmtpTls;

use crate::reader::section::Section;

/// `[selvedge.auth]`.
#[derive(Debug, Clone)]
pub struct SelvedgeAuthSection {
    /// Whether mail is queued in the database and sent after the request. If not, it is sent within the request, which fails
    /// when the SMTP server does. Default true.
    pub mail_queue: bool,
    /// How the connection to the SMTP server is encrypted. Default: depends on the port.
    pub smtp_tls: SmtpTls,
    /// Headers of every mail, as `Name: value`.
    pub smtp_headers: Vec<(String, String)>,
    /// The only addresses to which mail may be sent; empty means all.
    pub authorized_addresses: Vec<String>,
    /// Whether passwords on a public list of leaked passwords are refused. Default false.
    pub leaked_passwords: bool,
    /// URL of the list of leaked passwords. Default: haveibeenpwned.com.
    pub leaked_passwords_url: Option<String>,
    /// Whether every password is refused while the list cannot be reached. Default false.
    pub leaked_passwords_fail_closed: bool,
    /// Whether changing a password requires the current one. Default false.
    pub require_current_password: bool,
    /// URL of the captcha service. Default: the provider's.
    pub captcha_url: Option<String>,
    /// The header in which a trusted proxy passes the client's address; rate limits count by its last address. Default: the
    /// address of the gateway, see `trusted_proxies`.
    pub rate_limit_header: Option<String>,
    /// Challenges and verifications of second factors per minute and client address. Default 15.
    pub rate_limit_mfa: u32,
    /// Passkey registrations and sign-ins per five minutes and client address. Default 30.
    pub rate_limit_passkeys: u32,
    /// Dynamic registrations of OAuth clients per five minutes and client address. Default 10.
    pub rate_limit_client_registrations: u32,
    /// Whether a user has one session at a time: only the session refreshed last may refresh again. Default false.
    pub single_session_per_user: bool,
    /// Kinds of sessions for `single_session_per_user`: a user may have one session of each kind.
    pub session_tags: Vec<String>,
    /// How long a user with a second factor may keep a session without verifying it. Default: no limit.
    pub allow_low_aal: Option<Duration>,
    /// Whether refresh tokens of new sessions are signed counters instead of rows in the database. Default false.
    pub counter_refresh_tokens: bool,
    /// Whether an outdated counter token is exchanged for the current one instead of revoking its session. Default false.
    pub always_reuse_refresh_tokens: bool,
    /// Whether hooks and custom providers may be called at addresses of private networks. Default true in `start`, false in
    /// `serve`.
    pub private_addresses: Option<bool>,
    /// Further host names under which clients may reach the service; links in mails then use the host of the request.
    pub external_hosts: Vec<String>,
    /// Whether a browser may finish only those sign-ins by providers that it has begun. Default true, false with
    /// `external_hosts`, because cookies belong to one host.
    pub bind_callbacks: Option<bool>,
    /// Audiences beside `authenticated` that `X-JWT-AUD` and tokens may name. Default: none.
    pub audiences: Vec<String>,
    /// Whether a token with a `sub` but without a `session_id`, which the project has signed itself, counts as that user at
    /// Auth. Default false.
    pub tokens_without_session: bool,
    /// Whether providers of single sign-on confirm any address, and not only those of their domains. Default false.
    pub sso_confirms_any_address: bool,
    /// Whether the header `Sb-Forwarded-For` gives the client's address. Default false.
    pub sb_forwarded_for: bool,
    /// Whether actions of users are recorded in `auth.audit_log_entries`. Default true.
    pub audit_log: bool,
    /// Whether anonymous users are deleted after 30 days. Default false.
    pub delete_old_anonymous_users: bool,
}

impl SelvedgeAuthSection {
    pub(super) fn read(section: &Section<'_>) -> Self {
        let limit = |key, default| section.integer(key, default, 0..=u32::MAX);
        Self {
            mail_queue: section.bool("mail_queue", true),
            smtp_tls: section.choice(
                "smtp_tls",
                SmtpTls::Automatic,
                &[
                    ("automatic", SmtpTls::Automatic),
                    ("implicit", SmtpTls::Implicit),
                    ("starttls", SmtpTls::StartTls),
                    ("none", SmtpTls::None),
                ],
            ),
            smtp_headers: read_headers(section),
            authorized_addresses: section.strings("authorized_addresses", &[]),
            leaked_passwords: section.bool("leaked_passwords", false),
            leaked_passwords_url: section.optional_string("leaked_passwords_url"),
            leaked_passwords_fail_closed: section.bool("leaked_passwords_fail_closed", false),
            require_current_password: section.bool("require_current_password", false),
            captcha_url: section.optional_string("captcha_url"),
            rate_limit_header: section.optional_string("rate_limit_header"),
            rate_limit_mfa: limit("rate_limit_mfa", 15),
            rate_limit_passkeys: limit("rate_limit_passkeys", 30),
            rate_limit_client_registrations: limit("rate_limit_client_registrations", 10),
            single_session_per_user: section.bool("single_session_per_user", false),
            session_tags: section.strings("session_tags", &[]),
            allow_low_aal: section.optional_duration("allow_low_aal"),
            counter_refresh_tokens: section.bool("counter_refresh_tokens", false),
            always_reuse_refresh_tokens: section.bool("always_reuse_refresh_tokens", false),
            private_addresses: section.optional_bool("private_addresses"),
            external_hosts: section.strings("external_hosts", &[]),
            bind_callbacks: section.optional_bool("bind_callbacks"),
            audiences: section.strings("audiences", &[]),
            tokens_without_session: section.bool("tokens_without_session", false),
            sso_confirms_any_address: section.bool("sso_confirms_any_address", false),
            sb_forwarded_for: section.bool("sb_forwarded_for", false),
            audit_log: section.bool("audit_log", true),
            delete_old_anonymous_users: section.bool("delete_old_anonymous_users", false),
        }
    }
}

/// The names and values of `smtp_headers`.
fn read_headers(section: &Section<'_>) -> Vec<(String, String)> {
    let lines = section.strings("smtp_headers", &[]);
    let pair = |line: &String| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    let pairs: Option<Vec<_>> = lines.iter().map(pair).collect();
    pairs.unwrap_or_else(|| {
        section.report_error("smtp_headers", "must be lines such as \"X-Kind: $messageType\"");
        Vec::new()
    })
}
