//! `selvedge db push`: applies pending migrations, and seeds on request.

use anyhow::Result;
use selvedge_config::Config;
use selvedge_database::embedded;
use selvedge_database::target::run_on_database;
use selvedge_postgres::migrate::{discover_migrations, find_pending};
use selvedge_terminal::{GOOD, WARN};

use crate::cli::PushArgs;
use crate::commands::apply::apply_migrations;

/// Runs `selvedge db push`.
///
/// # Errors
/// When a migration fails; those before it stay applied.
pub(super) async fn run(config: &Config, args: &PushArgs) -> Result<()> {
    if args.dry_run {
        return print_pending(config).await;
    }
    apply_migrations(config).await?;
    if args.include_seed {
        let seeds = run_on_database(config, async |client| embedded::run_seeds(config, client).await).await?;
        for seed in seeds {
            anstream::println!("{GOOD}seeded{GOOD:#} {seed}");
        }
    }
    Ok(())
}

async fn print_pending(config: &Config) -> Result<()> {
    // What a push would refuse, this refuses as well: versions that come twice, and files before the last one that has run.
    let found = discover_migrations(&embedded::migrations_folder(config))?;
    let pending = run_on_database(config, async |client| {
        let pending = find_pending(client, &found.migrations).await?;
        Ok(pending.into_iter().map(embedded::file_name).collect::<Vec<_>>())
    })
    .await?;
    for file in pending {
        anstream::println!("{WARN}pending{WARN:#} {file}");
    }
    Ok(())
}
