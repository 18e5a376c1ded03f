//! `[auth.email]`: confirmation of addresses, the SMTP server, mail templates.

use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;

use crate::reader::section::Section;

/// `[auth.email]`.
#[derive(Debug, Clone)]
pub struct EmailSection {
    /// `enabled`, in older projects `enable_signup`: whether users may sign up and sign in by e-mail. Default true.
    pub enabled: bool,
    /// Whether a change of address must be confirmed at the old and the new address. Default true.
    pub double_confirm_changes: bool,
    /// Whether an address must be confirmed before the first sign-in. Default false.
    pub enable_confirmations: bool,
    /// Whether changing the password requires a recent sign-in. Default false.
    pub secure_password_change: bool,
    /// The minimum time between two mails to a user. Default 1s.
    pub max_frequency: Duration,
    /// Number of digits of a one-time password, 6 to 10. Default 6.
    pub otp_length: u32,
    /// Lifetime of links and one-time passwords in seconds. Default 3600.
    pub otp_expiry_seconds: u64,
    /// `[auth.email.smtp]`, when enabled.
    pub smtp: Option<SmtpSection>,
    /// `[auth.email.template.<name>]`.
    pub templates: Vec<EmailTemplate>,
    /// `[auth.email.notification.<name>]`.
    pub notifications: Vec<NotificationTemplate>,
}

/// `[auth.email.smtp]`.
#[derive(Debug, Clone)]
pub struct SmtpSection {
    /// Host name of the server.
    pub host: String,
    /// Port 465 uses TLS from the start, other ports STARTTLS. Default 587.
    pub port: u16,
    /// User name of the login.
    pub user: Option<String>,
    /// Password of the login.
    pub pass: Option<SecretString>,
    /// Sender address.
    pub admin_email: String,
    /// Sender name.
    pub sender_name: Option<String>,
}

/// `[auth.email.template.<name>]`.
#[derive(Debug, Clone)]
pub struct EmailTemplate {
    /// `invite`, `confirmation`, `recovery`, `magic_link`, `email_change` or `reauthentication`.
    pub name: String,
    /// Template of the subject. Default: the built-in one.
    pub subject: Option<String>,
    /// Template file of the HTML body. Default: the built-in one.
    pub content_path: Option<PathBuf>,
}

/// `[auth.email.notification.<name>]`.
#[derive(Debug, Clone)]
pub struct NotificationTemplate {
    /// Whether the notification is sent. Default false.
    pub enabled: bool,
    /// Subject and body.
    pub template: EmailTemplate,
}

const TEMPLATES: [&str; 6] = [
    "invite",
    "confirmation",
    "recovery",
    "magic_link",
    "email_change",
    "reauthentication",
];

impl EmailSection {
    pub(super) fn read(section: &Section<'_>, project: &Path, repository: &Path) -> Self {
        let templates = section.section("template");
        let notifications = section.section("notification");
        Self {
            enabled: section.is_enabled_or_older("enable_signup", true),
            double_confirm_changes: section.bool("double_confirm_changes", true),
            enable_confirmations: section.bool("enable_confirmations", false),
            secure_password_change: section.bool("secure_password_change", false),
            max_frequency: section.duration("max_frequency", Duration::from_secs(1)),
            otp_length: section.integer("otp_length", 6, 6..=10),
            otp_expiry_seconds: section.integer("otp_expiry", 3600, 1..=86_400),
            smtp: read_smtp(&section.section("smtp")),
            // Compat: the CLI resolves paths of templates from the repository's root, and those of notifications from the
            // folder of config.toml.
            templates: TEMPLATES
                .iter()
                .filter_map(|name| read_template(&templates.section(name), name, repository))
                .collect(),
            notifications: notifications
                .entry_names()
                .into_iter()
                .filter_map(|name| {
                    let section = notifications.section(&name);
                    let enabled = section.is_enabled(false);
                    read_template(&section, &name, project)
                        .map(|template| NotificationTemplate { enabled, template })
                })
                .collect(),
        }
    }
}

fn read_template(section: &Section<'_>, name: &str, base: &Path) -> Option<EmailTemplate> {
    section.is_present().then(|| {
        let content_path = section.optional_path("content_path", base);
        if let Some(path) = content_path.as_ref().filter(|path| !path.is_file()) {
            section.report_error(
                "content_path",
                &format!("names {}, which is not a file", path.display()),
            );
        }
        EmailTemplate {
            name: name.to_owned(),
            subject: section.optional_string("subject"),
            content_path,
        }
    })
}

fn read_smtp(section: &Section<'_>) -> Option<SmtpSection> {
    // Compat: a table without `enabled` counts as enabled.
    let enabled = section.is_enabled(section.is_present());
    let host = section.optional_string("host");
    let admin_email = section.optional_string("admin_email");
    let rest = (
        section.port("port", 587),
        section.optional_string("user"),
        section.optional_secret("pass"),
        section.optional_string("sender_name"),
    );
    let (port, user, pass, sender_name) = rest;
    match (enabled, host, admin_email) {
        (false, ..) => None,
        (true, Some(host), Some(admin_email)) => Some(SmtpSection {
            host,
            port,
            user,
            pass,
            admin_email,
            sender_name,
        }),
        (true, ..) => {
            section.report_error("enabled", "is true, so host and admin_email must be set");
            None
        }
    }
}
