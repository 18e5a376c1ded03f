//! Configuration → the mailer and its templates.

use anyhow::{Context, Result};
use selvedge_config::{Config, EmailTemplate, Mode, SelvedgeAuthSection, SmtpSection};
use selvedge_mail::{Inbox, MailKind, MailTemplates, Mailer, Sender, SmtpConfig, SmtpMailer};
use selvedge_project_files::{MAX_SETTINGS_BYTES, read_text};
use selvedge_terminal::print_warnings;

/// The mailer: the configured SMTP server; without one, the inbox in development. In production what would send a mail is refused then.
///
/// # Errors
/// A setting of the SMTP server that cannot be used.
pub(in crate::services) fn build_mailer(config: &Config, mode: Mode) -> Result<(Mailer, Option<Inbox>)> {
    match (&config.auth.email.smtp, mode) {
        (Some(smtp), _) => Ok((Mailer::Smtp(smtp_mailer(smtp, &config.selvedge.auth)?), None)),
        (None, Mode::Development) => {
            let inbox = Inbox::default();
            let sender = Sender {
                address: config.inbox.admin_email.clone(),
                name: config.inbox.sender_name.clone(),
            };
            Ok((Mailer::Inbox(inbox.clone(), sender), Some(inbox)))
        }
        (None, Mode::Production) => {
            if config.auth.enabled && config.auth.hooks.iter().all(|hook| hook.name != "send_email") {
                tracing::warn!(
                    "no SMTP server is configured, so what would send a mail is refused: set [auth.email.smtp] (host, port, user, pass, \
                     admin_email) in config.toml, or SUPABASE_AUTH_EMAIL_SMTP_ENABLED=true and the variables beside it"
                );
            }
            Ok((Mailer::Missing, None))
        }
    }
}

fn smtp_mailer(smtp: &SmtpSection, selvedge: &SelvedgeAuthSection) -> Result<SmtpMailer> {
    let config = SmtpConfig {
        host: smtp.host.clone(),
        port: smtp.port,
        user: smtp.user.clone(),
        password: smtp.pass.clone(),
        sender: Sender {
            address: smtp.admin_email.clone(),
            name: smtp.sender_name.clone().unwrap_or_default(),
        },
        tls: selvedge.smtp_tls,
        headers: selvedge.smtp_headers.clone(),
        ..SmtpConfig::default()
    };
    SmtpMailer::new(&config).context("[auth.email.smtp]")
}

/// The project's mail templates. A kind of mail without a template keeps the built-in text.
pub(in crate::services) fn mail_templates(config: &Config) -> Result<MailTemplates> {
    let mut templates = MailTemplates::default();
    for template in &config.auth.email.templates {
        if let Some(kind) = MailKind::from_config_name(&template.name) {
            let section = format!("[auth.email.template.{}]", template.name);
            replace_template(&mut templates, kind, template).context(section)?;
        }
    }
    for notification in &config.auth.email.notifications {
        let (name, section) = (&notification.template.name, "[auth.email.notification");
        match MailKind::from_notification_name(name) {
            Some(kind) => replace_template(&mut templates, kind, &notification.template)
                .with_context(|| format!("{section}.{name}]"))?,
            None => print_warnings(&[format!("{section}.{name}] is no notification we know")]),
        }
    }
    Ok(templates)
}

/// Replaces the built-in subject and text of one kind of mail by the project's.
fn replace_template(templates: &mut MailTemplates, kind: MailKind, template: &EmailTemplate) -> Result<()> {
    if let Some(subject) = &template.subject {
        templates.set_subject(kind, subject)?;
    }
    if let Some(path) = &template.content_path {
        let html =
            read_text(path, MAX_SETTINGS_BYTES).with_context(|| format!("cannot read {}", path.display()))?;
        templates.set_content(kind, &html)?;
    }
    Ok(())
}
