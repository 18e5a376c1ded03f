//! `selvedge db reset`: recreates the database from migrations and seeds. A running project keeps running while its database
//! is emptied and filled; otherwise the cluster is created again, as by `selvedge reset`.

use anyhow::{Result, bail};
use selvedge_postgres::migrate::reset_auto_expose;
use selvedge_storage::SeedReport;

use crate::cli::{DbResetArgs, DownArgs};
use crate::commands::consent::agree_to_empty;
use crate::commands::reset as whole_reset;
use crate::commands::summary::describe_first_start;
use crate::config::Config;
use crate::database::fresh::read_fresh_state;
use crate::database::rebuild::{Platform, RebuildOptions, find_version_before, rebuild_project};
use crate::database::target::TargetDatabase;
use crate::database::{embedded, service_logins};
use crate::output::GOOD;
use crate::services;

/// Runs `selvedge db reset`.
///
/// # Errors
/// When the user does not confirm, or a migration or seed fails.
pub(super) async fn run(config: Config, args: DbResetArgs) -> Result<()> {
    let Some(database) = TargetDatabase::find_or_allow_start(&config).await? else {
        if args.version.is_some() || args.last.is_some() {
            bail!(
                "{} has to run for a reset to a version\n  start it with:  selvedge start",
                config.project.id
            );
        }
        // A host in `--yes` means another database than this one.
        let is_confirmed = args.yes.as_deref() == Some("");
        return whole_reset::run(config, is_confirmed, !args.no_seed).await;
    };
    agree_to_empty(&database, args.yes.as_deref())?;
    let version = match args.last {
        Some(last) => Some(find_version_before(&config, &database.connect().await?, last).await?),
        None => args.version,
    };
    rebuild(&config, &database, version, !args.no_seed).await
}

/// `migration down`: makes the database again without its newest migrations.
pub(crate) async fn migrate_down(config: &Config, args: &DownArgs) -> Result<()> {
    let database = TargetDatabase::find_required(config).await?;
    agree_to_empty(&database, args.yes.as_deref())?;
    let version = find_version_before(config, &database.connect().await?, args.last).await?;
    rebuild(config, &database, Some(version), true).await
}

async fn rebuild(
    config: &Config,
    database: &TargetDatabase,
    version: Option<String>,
    seed: bool,
) -> Result<()> {
    let is_own = matches!(database, TargetDatabase::Running(_));
    let platform = match database {
        TargetDatabase::Running(running) => {
            let session = embedded::connect_privileged(&running.superuser_login()).await?;
            let fresh = read_fresh_state(config, &session).await?;
            // When this command is interrupted, the next start fills the database.
            embedded::forget_initialized(config)?;
            // A migration may have changed the default privileges, and may not be there any more.
            reset_auto_expose(&session, embedded::exposes_new_tables(config)).await?;
            Platform::Own { session, fresh }
        }
        TargetDatabase::External(external) => {
            let session = external.connect().await?;
            let fresh = read_fresh_state(config, &session).await?;
            let session = session.is_superuser().then_some(session);
            Platform::External { session, fresh }
        }
    };
    let options = RebuildOptions {
        version,
        seed: seed && config.db.seed.enabled,
    };
    let report = rebuild_project(config, &database.connect().await?, &options, Some(&platform)).await?;
    let buckets = match database {
        TargetDatabase::Running(running) if seed => {
            let logins = service_logins(|role| embedded::login_to_running(running, role));
            services::fill_buckets(config, logins).await?
        }
        _ => SeedReport::default(),
    };
    if is_own {
        embedded::mark_initialized(config)?;
    }
    let done = describe_first_start(&report, &buckets);
    anstream::println!("{GOOD}reset{GOOD:#} {}: {done}", config.project.id);
    Ok(())
}
