//! `selvedge migrate`: applies, lists and creates migrations.
//!
//! The database is the one of `--database-url` or `DATABASE_URL`; else the project's own, whether it runs
//! or has to be started for the occasion.

use anyhow::{Context, Result, bail};
use chrono::Utc;
use selvedge_postgres::cluster::{Cluster, DATABASE};
use selvedge_postgres::migrate::{MigrationState, apply_platform, create_migration, is_platform_applied};
use tokio_postgres::Client;

use crate::cli::MigrateAction;
use crate::config::Config;
use crate::embedded::{self, Embedded};
use crate::external::ExternalDatabase;
use crate::output::{DIM, GOOD, WARN};
use crate::status::DATABASE_PASSWORD;

pub(super) async fn run(config: &Config, action: MigrateAction) -> Result<()> {
    match action {
        MigrateAction::New { name } => create(config, &name),
        MigrateAction::Up => up(config).await,
        MigrateAction::List => list(config).await,
    }
}

fn create(config: &Config, name: &str) -> Result<()> {
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

async fn up(config: &Config) -> Result<()> {
    let applied = if let Some(url) = &config.own.database_url {
        let database = ExternalDatabase::parse(url)?;
        let client = database.client().await?;
        if !is_platform_applied(&client).await? {
            let report = apply_platform(&client).await.context(
                "the platform schema needs a superuser once: use one in DATABASE_URL for this command",
            )?;
            if report.is_first {
                database.set_service_passwords(&client).await?;
            }
            print_applied("platform", &report.applied);
        }
        database.become_administrator(&client).await?;
        embedded::apply_migrations(config, &client).await?
    } else if let Some(client) = running(config).await? {
        embedded::apply_migrations(config, &client).await?
    } else {
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

async fn list(config: &Config) -> Result<()> {
    let statuses = if let Some(url) = &config.own.database_url {
        let client = ExternalDatabase::parse(url)?.client().await?;
        embedded::list_migrations(config, &client).await?
    } else if let Some(client) = running(config).await? {
        embedded::list_migrations(config, &client).await?
    } else {
        let cluster = embedded::start_cluster(config).await?;
        let client = embedded::connect(&cluster.superuser_config()).await?;
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

/// The running instance's database, as `postgres`.
async fn running(config: &Config) -> Result<Option<Client>> {
    let Some(holder) = Cluster::find_running(&config.own.data_dir)? else {
        return Ok(None);
    };
    let mut login = tokio_postgres::Config::new();
    login
        .host("127.0.0.1")
        .port(holder.database_port)
        .user("postgres")
        .password(DATABASE_PASSWORD)
        .dbname(DATABASE);
    embedded::connect(&login).await.map(Some)
}
