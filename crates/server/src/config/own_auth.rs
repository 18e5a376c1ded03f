//! `[selvedge.auth]`: settings of the auth service that Supabase has in its environment only.

use std::time::Duration;

use super::section::Section;

/// `[selvedge.auth]`.
#[derive(Debug, Clone)]
pub struct OwnAuthSection {
    /// Whether mails wait in the database until the SMTP server has taken them. Otherwise they are sent inside
    /// the request, which fails with them. Default true.
    pub mail_queue: bool,
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
    /// Whether only the session refreshed last may refresh. Default false.
    pub single_session_per_user: bool,
    /// Kinds of sessions, each with a single one of its own.
    pub session_tags: Vec<String>,
    /// How long users with a second factor may stay without showing it. Default: no limit.
    pub allow_low_aal: Option<Duration>,
    /// Whether refresh tokens of new sessions are signed counters instead of rows. Default false.
    pub counter_refresh_tokens: bool,
    /// Whether what users do is written to `auth.audit_log_entries`. Default true.
    pub audit_log: bool,
    /// Whether anonymous users go after 30 days. Default false.
    pub delete_old_anonymous_users: bool,
}

impl OwnAuthSection {
    pub(super) fn read(section: &Section<'_>) -> Self {
        Self {
            mail_queue: section.bool("mail_queue", true),
            authorized_addresses: section.strings("authorized_addresses", &[]),
            leaked_passwords: section.bool("leaked_passwords", false),
            leaked_passwords_url: section.optional_string("leaked_passwords_url"),
            leaked_passwords_fail_closed: section.bool("leaked_passwords_fail_closed", false),
            require_current_password: section.bool("require_current_password", false),
            captcha_url: section.optional_string("captcha_url"),
            rate_limit_header: section.optional_string("rate_limit_header"),
            single_session_per_user: section.bool("single_session_per_user", false),
            session_tags: section.strings("session_tags", &[]),
            allow_low_aal: section.optional_duration("allow_low_aal"),
            counter_refresh_tokens: section.bool("counter_refresh_tokens", false),
            audit_log: section.bool("audit_log", true),
            delete_old_anonymous_users: section.bool("delete_old_anonymous_users", false),
        }
    }
}
