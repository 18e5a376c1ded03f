//! Applies pending migrations: `migrate up` and `db push`.

use anyhow::{Context, Result};
use selvedge_postgres::migrate::{
    apply_platform, find_privilege_faults, is_platform_applied, set_vault_key_file,
};
use tokio_postgres::Client;

use crate::config::Config;
use crate::database::embedded::{self, Embedded};
use crate::database::external::ExternalDatabase;
use crate::database::target::TargetDatabase;
use crate::output::{GOOD, WARN};

/// Applies the platform's schema if it is missing or old, then the project's migrations, and prints what it has applied.
pub(super) async fn apply_migrations(config: &Config) -> Result<()> {
    let applied = match TargetDatabase::find(config).await? {
        Some(TargetDatabase::External(database)) => {
            let client = database.connect().await?;
            apply_platform_to_external(config, &database, &client).await?;
            // The platform schema needs a superuser; the project's migrations must not have one.
            database.become_administrator(&client).await?;
            embedded::apply_migrations(config, &client).await?
        }
        Some(database) => embedded::apply_migrations(config, &database.connect().await?).await?,
        None => {
            // Starting the cluster applies pending migrations already.
            let embedded = Embedded::start(config).await?;
            let applied = embedded.report.migrations.clone();
            embedded.cluster.stop().await?;
            applied
        }
    };
    match applied.as_slice() {
        [] => anstream::println!("{GOOD}up to date{GOOD:#}"),
        applied => print_applied("applied", applied),
    }
    Ok(())
}

/// Applies the platform schema to an external database, if it is missing or out of date.
pub(super) async fn apply_platform_to_external(
    config: &Config,
    database: &ExternalDatabase,
    client: &Client,
) -> Result<()> {
    if !is_platform_applied(client).await? {
        // The platform schema creates roles, event triggers and schemas with other owners, which requires a superuser.
        let report = apply_platform(client).await.context(
            "the platform schema needs a superuser once: use one in DATABASE_URL for this command",
        )?;
        // Only the first time, because the operator may have changed the passwords of the services' roles since.
        if report.is_first {
            database.set_service_passwords(client).await?;
        }
        print_applied("platform", &report.applied);
    }
    if let Some(path) = &config.selvedge.vault_key_file {
        set_vault_key_file(client, path)
            .await
            .context("only a superuser may say where the vault's key is: use one in DATABASE_URL once")?;
    }
    // What shipped is compared with what is installed: somebody may have changed it since.
    for fault in find_privilege_faults(client).await? {
        anstream::eprintln!("{WARN}privileges{WARN:#} {}, but: {}", fault.rule, fault.object);
    }
    Ok(())
}

fn print_applied(what: &str, names: &[String]) {
    for name in names {
        anstream::println!("{GOOD}{what}{GOOD:#} {name}");
    }
}
