//! `[selvedge.auth]`: settings of the auth service that Supabase has in its environment only.

use std::time::Duration;

use selvedge_mail::SmtpTls;

use super::section::Section;

/// `[selvedge.auth]`.
#[derive(Debug, Clone)]
pub struct OwnAuthSection {
    /// Whether mails wait in the database until the SMTP server has taken them. Otherwise they are sent inside
    /// the request, which fails with them. Default true.
    pub mail_queue: bool,
    /// How the connection to the SMTP server is encrypted. Default: as its port says.
    pub smtp_tls: SmtpTls,
    /// `Name: value`: headers that every mail carries.
    pub smtp_headers: Vec<(String, String)>,
    /// Addresses that mails may go to; empty for all.
    pub authorized_addresses: Vec<String>,
    /// Whether passwords on a public list of leaked ones are refused. Default false.
    pub leaked_passwords: bool,
    /// Replaces the address of that list.
    pub leaked_passwords_url: Option<String>,
    /// Whether passwords are refused while the list cannot be reached. Default false.
    pub leaked_passwords_fail_closed: bool,
    /// Whether a new password needs the current one. Default false.
    pub require_current_password: bool,
    /// Replaces the address of the captcha service.
    pub captcha_url: Option<String>,
    /// The header by which a trusted proxy names the client; rate limits count by it.
    pub rate_limit_header: Option<String>,
    /// Challenges and verifications of second factors per minute and address. Default 15.
    pub rate_limit_mfa: u32,
    /// Ceremonies of passkeys per five minutes and address. Default 30.
    pub rate_limit_passkeys: u32,
    /// Programs that may register themselves per five minutes and address. Default 10.
    pub rate_limit_client_registrations: u32,
    /// Whether only the session refreshed last may refresh. Default false.
    pub single_session_per_user: bool,
    /// Kinds of sessions, each with a single one of its own.
    pub session_tags: Vec<String>,
    /// How long users with a second factor may stay without showing it. Default: no limit.
    pub allow_low_aal: Option<Duration>,
    /// Whether refresh tokens of new sessions are signed counters instead of rows. Default false.
    pub counter_refresh_tokens: bool,
    /// Whether an old counter gets the current token instead of ending its session. Default false.
    pub always_reuse_refresh_tokens: bool,
    /// Host names besides the project's own under which clients may reach the service; links in mails follow them.
    pub external_hosts: Vec<String>,
    /// Whether `Sb-Forwarded-For` names the client. Default false.
    pub sb_forwarded_for: bool,
    /// Whether what users do is written to `auth.audit_log_entries`. Default true.
    pub audit_log: bool,
    /// Whether anonymous users go after 30 days. Default false.
    pub delete_old_anonymous_users: bool,
}

impl OwnAuthSection {
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
            smtp_headers: headers(section),
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
            external_hosts: section.strings("external_hosts", &[]),
            sb_forwarded_for: section.bool("sb_forwarded_for", false),
            audit_log: section.bool("audit_log", true),
            delete_old_anonymous_users: section.bool("delete_old_anonymous_users", false),
        }
    }
}

/// Lines as they stand in a mail.
fn headers(section: &Section<'_>) -> Vec<(String, String)> {
    let lines = section.strings("smtp_headers", &[]);
    let pair = |line: &String| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    let pairs: Option<Vec<_>> = lines.iter().map(pair).collect();
    pairs.unwrap_or_else(|| {
        section.refuse("smtp_headers", "must be lines such as \"X-Kind: $messageType\"");
        Vec::new()
    })
}
