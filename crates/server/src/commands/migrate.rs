//! `selvedge migrate` (`migration`): applies, lists, creates and repairs migrations.
//!
//! The database is that of `--database-url` or `DATABASE_URL`; without one, the project's own. If the project does not
//! run, its cluster is started for the command and stopped afterwards.

use anyhow::{Context, Result, bail};
use chrono::Utc;
use selvedge_config::Config;
use selvedge_database::embedded;
use selvedge_database::target::run_on_database;
use selvedge_postgres::migrate::{
    MigrationState, create_migration, discover_migrations, fetch_migrations, forget_migrations,
    record_migrations,
};
use selvedge_project_trust::check_place;
use selvedge_terminal::{DIM, GOOD, WARN};

use super::apply::apply_migrations;
use super::db;
use crate::cli::{MigrateAction, RepairArgs, RepairStatus};

/// Runs an action of `selvedge migration`.
///
/// # Errors
/// Those of the action.
pub(super) async fn run(config: &Config, action: MigrateAction) -> Result<()> {
    match action {
        MigrateAction::New { name } => create_file(config, &name),
        MigrateAction::Up => apply_migrations(config).await,
        MigrateAction::List => list_migrations(config).await,
        MigrateAction::Down(args) => db::migrate_down(config, &args).await,
        MigrateAction::Repair(args) => repair_history(config, &args).await,
        MigrateAction::Fetch => fetch_files(config).await,
        MigrateAction::Squash(args) => db::squash_migrations(config, &args).await,
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
    check_place(&config.project, &folder)?;
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let path = create_migration(&folder, &Utc::now().format("%Y%m%d%H%M%S").to_string(), &name)?;
    anstream::println!("{GOOD}created{GOOD:#} {}", path.display());
    Ok(())
}

async fn list_migrations(config: &Config) -> Result<()> {
    let statuses = run_on_database(config, async |client| {
        embedded::list_migrations(config, client).await
    })
    .await?;
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

/// `migration repair`: changes the history without running anything.
async fn repair_history(config: &Config, args: &RepairArgs) -> Result<()> {
    let found = discover_migrations(&embedded::migrations_folder(config))?;
    let versions: Vec<String> = if args.versions.is_empty() {
        found
            .migrations
            .iter()
            .map(|migration| migration.version.clone())
            .collect()
    } else {
        args.versions.clone()
    };
    run_on_database(config, async |client| match args.status {
        RepairStatus::Reverted => Ok(forget_migrations(client, &versions).await?),
        RepairStatus::Applied => {
            let mut migrations = Vec::with_capacity(versions.len());
            for version in &versions {
                let file = found.migrations.iter().find(|file| file.version == *version);
                migrations.push(file.with_context(|| format!("there is no migration of version {version}"))?);
            }
            Ok(record_migrations(client, &migrations).await?)
        }
    })
    .await?;
    let status = match args.status {
        RepairStatus::Applied => "applied",
        RepairStatus::Reverted => "reverted",
    };
    anstream::println!("{GOOD}repaired{GOOD:#} {} => {status}", versions.join(", "));
    Ok(())
}

/// `migration fetch`: writes the files of migrations that are only in the database.
async fn fetch_files(config: &Config) -> Result<()> {
    let folder = embedded::migrations_folder(config);
    let found = discover_migrations(&folder)?;
    let written = run_on_database(config, async |client| {
        Ok(fetch_migrations(client, &folder, &found.migrations).await?)
    })
    .await?;
    if written.is_empty() {
        anstream::println!("{GOOD}up to date{GOOD:#}");
    }
    for path in written {
        anstream::println!("{GOOD}written{GOOD:#} {}", path.display());
    }
    Ok(())
}
