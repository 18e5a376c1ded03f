//! `selvedge db pull`: writes what a database has and the migrations lack as a new migration, and counts it as applied there.

use anyhow::{Result, bail};
use selvedge_config::Config;
use selvedge_database::embedded;
use selvedge_database::target::TargetDatabase;
use selvedge_postgres::migrate::{Migration, MigrationState, discover_migrations, record_migrations};
use selvedge_terminal::GOOD;

use super::diff::{find_statements, save_migration};
use super::dump::dump_schema;
use crate::cli::PullArgs;

/// Runs `selvedge db pull`.
///
/// # Errors
/// When the project does not run, or the history and the folder of migrations differ.
pub(super) async fn run(config: &Config, args: &PullArgs) -> Result<()> {
    let database = TargetDatabase::find_required(config).await?;
    let folder = embedded::migrations_folder(config);
    let local = discover_migrations(&folder)?.migrations;
    check_history(config, &database).await?;
    // Without migrations there is nothing to compare with: the whole schema is the first migration.
    let statements = if local.is_empty() {
        dump_schema(config, &database, &args.schema).await?
    } else {
        find_statements(config, &database, &args.schema).await?
    };
    if statements.trim().is_empty() {
        anstream::println!("{GOOD}no difference{GOOD:#}: the migrations lead to this database");
        return Ok(());
    }
    let path = save_migration(config, &args.name, &statements)?;
    let written: Vec<Migration> = discover_migrations(&folder)?
        .migrations
        .into_iter()
        .filter(|migration| migration.path == path)
        .collect();
    // The database has these objects already, so a later `migration up` must not create them again.
    let written: Vec<&Migration> = written.iter().collect();
    record_migrations(&mut database.connect().await?, &written).await?;
    Ok(())
}

/// Refuses a database whose history differs from the files: what it has besides would be pulled a second time, or lost.
async fn check_history(config: &Config, database: &TargetDatabase) -> Result<()> {
    let statuses = embedded::list_migrations(config, &database.connect().await?).await?;
    let with_state = |wanted: MigrationState| -> Vec<String> {
        let found = statuses.iter().filter(|status| status.state == wanted);
        found.map(|status| status.version.clone()).collect()
    };
    let missing = with_state(MigrationState::Missing);
    if !missing.is_empty() {
        bail!(
            "the database has migrations without a file: {0}\n  write the files with:  selvedge migration fetch\n  or forget \
             them with:     selvedge migration repair --status reverted {1}",
            missing.join(", "),
            missing.join(" ")
        );
    }
    let pending = with_state(MigrationState::Pending);
    if !pending.is_empty() {
        bail!(
            "the database lacks migrations of the project: {}\n  apply them with:  selvedge migration up",
            pending.join(", ")
        );
    }
    Ok(())
}
