//! `selvedge migration squash`: replaces the project's migrations up to a version by one that makes the same schema.

use anyhow::{Context, Result, bail};
use selvedge_postgres::migrate::{
    Migration, MigrationState, MigrationStatus, discover_migrations, forget_migrations, record_migrations,
    replace_file,
};

use super::dump::dump_login;
use super::shadow::Shadow;
use crate::cli::{DumpArgs, SquashArgs};
use crate::config::Config;
use crate::database::embedded;
use crate::database::target::run_on_database;
use crate::output::{GOOD, WARN};

/// Runs `selvedge migration squash`.
///
/// # Errors
/// When a migration fails in the shadow database, or a file cannot be written.
pub(crate) async fn run(config: &Config, args: &SquashArgs) -> Result<()> {
    let all = discover_migrations(&embedded::migrations_folder(config))?.migrations;
    let squashed = choose_migrations(&all, args.version.as_deref())?;
    let Some((last, older)) = squashed.split_last() else {
        bail!("there are no migrations to squash");
    };
    if older.is_empty() {
        // A squash that was interrupted after its work may have left it.
        Shadow::remove_leftover(config)?;
        anstream::println!("{} is the only migration", embedded::file_name(last));
        return Ok(());
    }
    // A project that was never started has no history that would have to agree with the files.
    let has_history = config.selvedge.database_url.is_some() || embedded::has_cluster(config);
    if !has_history {
        return squash(config, last, older).await;
    }
    // The database is kept from the check to the end: nobody else may apply a migration meanwhile.
    run_on_database(config, async |client| {
        let statuses = embedded::list_migrations(config, client).await?;
        check_applied(&statuses, squashed)?;
        squash(config, last, older).await?;
        let versions: Vec<String> = older.iter().map(|migration| migration.version.clone()).collect();
        forget_migrations(client, &versions).await?;
        Ok(record_migrations(client, &[last]).await?)
    })
    .await
}

/// Writes the schema of the migrations to the last one's file, and deletes the older ones.
async fn squash(config: &Config, last: &Migration, older: &[Migration]) -> Result<()> {
    let schema = dump_shadow(config, &last.version).await?;
    // The new content comes first: when the command is interrupted after it, the older files are still there.
    replace_file(&last.path, &schema)?;
    for migration in older {
        std::fs::remove_file(&migration.path)
            .with_context(|| format!("cannot delete {}", migration.path.display()))?;
    }
    anstream::println!(
        "{GOOD}squashed{GOOD:#} {} migrations into {}",
        older.len() + 1,
        last.path.display()
    );
    anstream::eprintln!(
        "{WARN}note{WARN:#} rows that the migrations inserted are not part of it; add such statements to it or to seed.sql"
    );
    Ok(())
}

/// The migrations up to a version; all without one.
fn choose_migrations<'m>(all: &'m [Migration], version: Option<&str>) -> Result<&'m [Migration]> {
    let Some(version) = version else {
        return Ok(all);
    };
    let last = all
        .iter()
        .position(|migration| migration.version == version)
        .with_context(|| format!("there is no migration of version {version}"))?;
    Ok(&all[..=last])
}

/// Refuses a database that lacks one of the migrations, because the single one would count as applied there.
fn check_applied(statuses: &[MigrationStatus], squashed: &[Migration]) -> Result<()> {
    let pending = statuses.iter().find(|status| {
        status.state == MigrationState::Pending && squashed.iter().any(|one| one.version == status.version)
    });
    if let Some(status) = pending {
        bail!(
            "the database lacks {}_{}.sql\n  apply it first with:  selvedge migration up",
            status.version,
            status.name
        );
    }
    Ok(())
}

/// Dumps the schema of the migrations up to `version`, applied to a shadow database.
async fn dump_shadow(config: &Config, version: &str) -> Result<String> {
    let shadow = Shadow::start_at(config, version).await?;
    let schema = dump_login(config, &shadow.login(), &DumpArgs::default());
    shadow.remove().await?;
    schema
}
