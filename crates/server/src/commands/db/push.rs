//! `selvedge db push`: applies pending migrations, and seeds on request.

use anyhow::Result;
use selvedge_postgres::migrate::MigrationState;

use crate::cli::PushArgs;
use crate::commands::apply::apply_migrations;
use crate::config::Config;
use crate::database::embedded;
use crate::database::target::run_on_database;
use crate::output::{GOOD, WARN};

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
    let statuses = run_on_database(config, async |client| {
        embedded::list_migrations(config, client).await
    })
    .await?;
    let pending = statuses
        .iter()
        .filter(|status| status.state == MigrationState::Pending);
    for status in pending {
        anstream::println!("{WARN}pending{WARN:#} {}_{}.sql", status.version, status.name);
    }
    Ok(())
}
