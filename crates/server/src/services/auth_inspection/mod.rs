//! Auth's configuration for the console: enabled providers, mails and hooks, the faults found in it, and test calls.

mod faults;
mod functions;
mod templates;

use std::sync::Arc;
use std::time::SystemTime;

use actix_web::web;
use selvedge_auth::{AuthState, PROVIDER_NAMES, try_hook, try_provider};
use selvedge_console::{AuthConfiguration, ConfiguredMail, ConfiguredProvider, InspectAuth, Trial};
use selvedge_mail::MailKind;
use selvedge_postgres::Database;
use serde_json::{Value, json};
use uuid::Uuid;

use super::mode::Mode;
use super::translate::auth_providers;
use crate::config::Config;

/// Names of the mail templates, in the order in which a user would get the mails.
const TEMPLATES: [&str; 6] = [
    "confirmation",
    "invite",
    "magic_link",
    "recovery",
    "email_change",
    "reauthentication",
];

/// Names of the notification mails.
const NOTIFICATIONS: [&str; 7] = [
    "password_changed",
    "email_changed",
    "phone_changed",
    "identity_linked",
    "identity_unlinked",
    "mfa_factor_enrolled",
    "mfa_factor_unenrolled",
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
    let notification = |name: &&str| {
        let found = email
            .notifications
            .iter()
            .find(|found| found.template.name == **name);
        ConfiguredMail {
            name: (*name).to_owned(),
            section: "notification",
            enabled: found.is_some_and(|found| found.enabled),
            custom: found.is_some_and(|found| {
                found.template.subject.is_some() || found.template.content_path.is_some()
            }),
        }
    };
    let templates = TEMPLATES.iter().map(template);
    templates.chain(NOTIFICATIONS.iter().map(notification)).collect()
}
