//! `selvedge migrate`: applies, lists and creates migrations.
//!
//! The database is that of `--database-url` or `DATABASE_URL`; without one, the project's own. If the project does not
//! run, its cluster is started for the command and stopped afterwards.

use anyhow::{Context, Result, bail};
use chrono::Utc;
use selvedge_postgres::cluster::Cluster;
use selvedge_postgres::migrate::{
    MigrationState, apply_platform, create_migration, is_platform_applied, set_vault_key_file,
};
use tokio_postgres::Client;

use crate::cli::MigrateAction;
use crate::config::Config;
use crate::database::embedded::{self, Embedded};
use crate::database::external::ExternalDatabase;
use crate::output::{DIM, GOOD, WARN};

pub(super) async fn run(config: &Config, action: MigrateAction) -> Result<()> {
    match action {
        MigrateAction::New { name } => create_file(config, &name),
        MigrateAction::Up => apply_migrations(config).await,
        MigrateAction::List => list_migrations(config).await,
    }
}

fn create_file(config: &Config, name: &str) -> Result<()> {
    let name: String = name
        .trim()
        .to_lowercase()
        .chars()
        .map(|letter| if letter.is_alphanumeric() { letter } else { '_' })
        .collect();
    if name.trim_matches('_').is_empty() {
        bail!("the name of a migration needs a letter: selvedge migrate new add_likes");
    }
    let folder = embedded::migrations_folder(config);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let path = create_migration(&folder, &Utc::now().format("%Y%m%d%H%M%S").to_string(), &name)?;
    anstream::println!("{GOOD}created{GOOD:#} {}", path.display());
    Ok(())
}

/// `migrate up`: the platform's schema if it is missing or old, then the project's migrations.
async fn apply_migrations(config: &Config) -> Result<()> {
    let applied = if let Some(url) = &config.selvedge.database_url {
        let database = ExternalDatabase::parse(url)?;
        let client = database.connect().await?;
        if !is_platform_applied(&client).await? {
            // Creating roles, event triggers and schemas of other owners needs a superuser; migrations of the project do not.
            let report = apply_platform(&client).await.context(
                "the platform schema needs a superuser once: use one in DATABASE_URL for this command",
            )?;
            // Passwords are set only once: an operator may have changed those of the services' roles since.
            if report.is_first {
                database.set_service_passwords(&client).await?;
            }
            print_applied("platform", &report.applied);
        }
        if let Some(path) = &config.selvedge.vault_key_file {
            set_vault_key_file(&client, path)
                .await
                .context("only a superuser may say where the vault's key is: use one in DATABASE_URL once")?;
        }
        // The platform schema needs a superuser; the project's migrations must not have one.
        database.become_administrator(&client).await?;
        embedded::apply_migrations(config, &client).await?
    } else if let Some(client) = connect_to_running(config).await? {
        embedded::apply_migrations(config, &client).await?
    } else {
        // Starting the cluster applies pending migrations already.
        let embedded = Embedded::start(config).await?;
        let applied = embedded.report.migrations.clone();
        embedded.cluster.stop().await?;
        applied
    };
    match applied.as_slice() {
        [] => anstream::println!("{GOOD}up to date{GOOD:#}"),
        applied => print_applied("applied", applied),
    }
    Ok(())
}

fn print_applied(what: &str, names: &[String]) {
    for name in names {
        anstream::println!("{GOOD}{what}{GOOD:#} {name}");
    }
}

async fn list_migrations(config: &Config) -> Result<()> {
    let statuses = if let Some(url) = &config.selvedge.database_url {
        let client = ExternalDatabase::parse(url)?.connect().await?;
        embedded::list_migrations(config, &client).await?
    } else if let Some(client) = connect_to_running(config).await? {
        embedded::list_migrations(config, &client).await?
    } else {
        let cluster = embedded::start_cluster(config).await?;
        let client = embedded::connect(&cluster.superuser_config()).await?;
        // The cluster is stopped before an error is returned, so that no PostgreSQL is left running.
        let statuses = embedded::list_migrations(config, &client).await;
        drop(client);
        cluster.stop().await?;
        statuses?
    };
    if statuses.is_empty() {
        anstream::println!(
            "no migrations in {}",
            embedded::migrations_folder(config).display()
        );
    }
    for status in statuses {
        let (style, state) = match status.state {
            MigrationState::Applied => (GOOD, "applied"),
            MigrationState::Pending => (WARN, "pending"),
            MigrationState::Missing => (WARN, "missing"),
        };
        anstream::println!(
            "  {style}{state}{style:#}  {DIM}{}{DIM:#}  {}",
            status.version,
            status.name
        );
    }
    Ok(())
}

/// Connects to the database of the running instance as `postgres`; `None` when the project does not run.
async fn connect_to_running(config: &Config) -> Result<Option<Client>> {
    let Some(holder) = Cluster::find_running(&config.selvedge.data_dir)? else {
        return Ok(None);
    };
    let login = embedded::login_to_running(&holder, "postgres");
    embedded::connect(&login).await.map(Some)
}
