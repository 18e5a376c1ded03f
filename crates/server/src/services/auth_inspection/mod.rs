//! Auth's configuration for the console: enabled providers, mails and hooks, the faults found in it, and test calls.

mod faults;
mod functions;
mod templates;

use std::sync::Arc;
use std::time::SystemTime;

use actix_web::web;
use selvedge_auth::{AuthState, PROVIDER_NAMES, try_hook, try_provider};
use selvedge_config::{Config, Mode};
use selvedge_console::{AuthConfiguration, ConfiguredMail, ConfiguredProvider, InspectAuth, Trial};
use selvedge_mail::MailKind;
use selvedge_postgres::Database;
use serde_json::{Value, json};
use uuid::Uuid;

use super::translate::{auth_channels, auth_providers};

/// Names of the mail templates, in the order in which a user would get the mails.
const TEMPLATES: [&str; 6] = [
    "confirmation",
    "invite",
    "magic_link",
    "recovery",
    "email_change",
    "reauthentication",
];

/// Inspects Auth by the configuration with which it was started.
pub(crate) struct AuthInspector {
    auth: web::Data<AuthState>,
    config: Arc<Config>,
    mode: Mode,
    database: Arc<Database>,
    started_at: SystemTime,
}

impl AuthInspector {
    /// Creates the inspector. Call it right after Auth was started: template files changed later are reported as not read yet.
    pub(super) fn new(
        auth: web::Data<AuthState>,
        config: &Config,
        mode: Mode,
        database: Arc<Database>,
    ) -> Self {
        Self {
            auth,
            config: Arc::new(config.clone()),
            mode,
            database,
            started_at: SystemTime::now(),
        }
    }
}

impl InspectAuth for AuthInspector {
    fn describe(&self) -> futures_util::future::LocalBoxFuture<'static, Result<AuthConfiguration, String>> {
        let (config, mode, started_at) = (Arc::clone(&self.config), self.mode, self.started_at);
        let database = Arc::clone(&self.database);
        Box::pin(async move {
            let mut faults = faults::list_faults(&config, mode);
            faults.extend(templates::list_faults(&config, started_at));
            faults.extend(functions::list_faults(&config, &database).await?);
            Ok(AuthConfiguration {
                auth_url: auth_providers::service_url(&config),
                providers: list_providers(&config, mode),
                other_providers: list_other_providers(&config),
                mails: list_mails(&config),
                hooks: config
                    .auth
                    .hooks
                    .iter()
                    .map(|hook| hook.name.to_owned())
                    .collect(),
                faults,
            })
        })
    }

    fn try_provider(&self, name: String) -> Trial {
        let auth = self.auth.clone();
        Box::pin(async move {
            let trial = try_provider(&auth, &name).await?;
            Ok(json!({ "address": trial.address, "status": trial.status, "elapsed_ms": trial.elapsed_ms }))
        })
    }

    fn try_hook(&self, name: String, user: Option<Uuid>) -> Trial {
        let auth = self.auth.clone();
        Box::pin(async move {
            let trial = try_hook(auth, &name, user).await?;
            Ok(json!({
                "input": trial.input, "output": trial.output, "refusal": trial.refusal,
                "elapsed_ms": trial.elapsed_ms,
            }))
        })
    }

    fn render_mail(&self, name: &str) -> Option<Value> {
        let kind = MailKind::from_config_name(name).or_else(|| MailKind::from_notification_name(name))?;
        let mail = selvedge_auth::render_sample_mail(&self.auth, kind);
        Some(json!({ "subject": mail.subject, "html": mail.html, "text": mail.text }))
    }

    fn is_redirect_allowed(&self, url: &str) -> bool {
        selvedge_auth::is_redirect_allowed(&self.auth, url)
    }
}

fn list_providers(config: &Config, mode: Mode) -> Vec<ConfiguredProvider> {
    let providers = auth_providers::provider_configs(config, mode).into_iter();
    providers
        .map(|provider| ConfiguredProvider {
            name: provider.name,
            callback_url: provider.redirect_uri,
            answered_locally: provider.development_url.is_some(),
        })
        .collect()
}

fn list_other_providers(config: &Config) -> Vec<String> {
    let is_on = |name: &str| config.auth.external.iter().any(|provider| provider.name == name);
    let others = PROVIDER_NAMES.iter().filter(|name| !is_on(name));
    others.map(|name| (*name).to_owned()).collect()
}

fn list_mails(config: &Config) -> Vec<ConfiguredMail> {
    let email = &config.auth.email;
    let template = |name: &&str| ConfiguredMail {
        name: (*name).to_owned(),
        section: "template",
        enabled: email.enabled,
        custom: email.templates.iter().any(|template| template.name == **name),
    };
    let enabled = auth_channels::notification_kinds(config);
    let notification = |(name, kind): &(&str, MailKind)| {
        let found = email
            .notifications
            .iter()
            .find(|found| found.template.name == *name);
        ConfiguredMail {
            name: (*name).to_owned(),
            section: "notification",
            enabled: kind.is_always_sent() || enabled.contains(kind),
            custom: found.is_some_and(|found| {
                found.template.subject.is_some() || found.template.content_path.is_some()
            }),
        }
    };
    let templates = TEMPLATES.iter().map(template);
    let notifications = MailKind::NOTIFICATIONS.iter().map(notification);
    templates.chain(notifications).collect()
}

#[cfg(test)]
mod tests {
    use selvedge_config::{Environment, Flags, Project};

    use super::*;

    /// The mails that are sent under a configuration, as the console lists them.
    fn enabled_notifications(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("supabase")).unwrap();
        std::fs::write(folder.path().join("supabase/config.toml"), text).unwrap();
        let project = Project::find(Some(folder.path()), folder.path()).unwrap();
        let loaded = Config::load_project(project, Environment::default(), &Flags::default());
        let mails = list_mails(&loaded.unwrap().config);
        assert_eq!(mails.len(), TEMPLATES.len() + MailKind::NOTIFICATIONS.len());
        let sent = mails
            .into_iter()
            .filter(|mail| mail.section == "notification" && mail.enabled);
        sent.map(|mail| mail.name).collect()
    }

    #[test]
    fn console_113_notices_that_are_sent_without_a_setting_are_not_listed_as_off() {
        let of_codes = ["recovery_code_used", "recovery_codes_replaced"];
        let by_default = ["passkey_added", "passkey_removed"].into_iter().chain(of_codes);
        let by_default: Vec<_> = by_default.chain(["credentials_forgotten"]).collect();
        assert_eq!(enabled_notifications(""), by_default);

        let set = "[auth.email.notification.password_changed]\nenabled = true\n\
                   [auth.email.notification.passkey_added]\nenabled = false\n\
                   [auth.email.notification.credentials_forgotten]\nenabled = false\n";
        let of_settings = ["password_changed", "passkey_removed"]
            .into_iter()
            .chain(of_codes);
        let of_settings: Vec<_> = of_settings.chain(["credentials_forgotten"]).collect();
        assert_eq!(enabled_notifications(set), of_settings);
    }
}
