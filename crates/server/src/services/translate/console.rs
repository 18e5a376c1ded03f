//! Translates the configuration into the settings of the console.

use selvedge_config::{Config, Mode};
use selvedge_console::{AllowedHosts, ConsoleConfig, ConsoleMode, ProjectFolder, SignInWays};
use selvedge_database::embedded::migrations_folder;
use selvedge_database::instance;
use selvedge_keys::KeySet;

/// Makes the settings of the console for the command that serves it.
pub(crate) fn console_config(config: &Config, keys: &KeySet, mode: Mode) -> ConsoleConfig {
    let section = &config.console;
    let is_production = mode == Mode::Production;
    let (port, public_url) = if is_production {
        (section.bind.port(), section.public_url.as_ref())
    } else {
        (section.port, None)
    };
    ConsoleConfig {
        mode: if is_production {
            ConsoleMode::Serve
        } else {
            ConsoleMode::Start
        },
        project: config.project.id.clone(),
        hosts: AllowedHosts::new(port, public_url),
        login: is_production || section.login,
        sign_in: SignInWays {
            accounts: section.account_sign_in,
            project: section.project_sign_in,
        },
        read_only: section.read_only,
        // On a laptop a change becomes a migration of the project; in production migrations come by `migrate up`.
        schema_changes: !is_production || section.schema_changes,
        secure_cookies: public_url.is_some(),
        idle: section.idle,
        lifetime: section.lifetime,
        statement_timeout: section.statement_timeout,
        api_url: config.api_url(),
        publishable_key: keys.browser_key().to_owned(),
        inbox_url: (!is_production && config.inbox.enabled).then(|| instance::inbox_url(config.inbox.port)),
        exposed_schemas: config.rest_settings().0.schemas,
        snippets_folder: (!is_production)
            .then(|| ProjectFolder::at_start(&config.project.folder.join("snippets"))),
        migrations_folder: (!is_production && config.db.migrations.enabled)
            .then(|| ProjectFolder::at_start(&migrations_folder(config))),
        version: env!("CARGO_PKG_VERSION"),
        trusted_proxies: config.selvedge.limits.trusted_proxies,
    }
}
