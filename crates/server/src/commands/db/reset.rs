//! `selvedge db reset`: recreates the database from migrations and seeds. A running project keeps running while its database
//! is emptied and filled; otherwise the cluster is created again, as by `selvedge reset`.

use anyhow::{Result, bail};
use selvedge_config::Config;
use selvedge_database::consent::{agree_to_empty, agree_to_empty_own};
use selvedge_database::external::{ExternalDatabase, apply_platform_to_external};
use selvedge_database::fresh::read_fresh_state;
use selvedge_database::initialized::mark_initialized;
use selvedge_database::rebuild::{
    Platform, RebuildOptions, check_before_rebuild, find_version_before, rebuild_project,
};
use selvedge_database::target::TargetDatabase;
use selvedge_database::{embedded, service_logins};
use selvedge_postgres::cluster::RunningCluster;
use selvedge_postgres::migrate::{MigrateError, is_platform_older};
use selvedge_storage::SeedReport;
use selvedge_terminal::GOOD;

use crate::cli::{DbResetArgs, DownArgs};
use crate::commands::reset as whole_reset;
use crate::commands::summary::describe_first_start;
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
        agree_to_empty_own(args.yes.as_deref())?;
        return whole_reset::run(config, args.yes.is_some(), !args.no_seed).await;
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
    let options = RebuildOptions {
        version,
        seed: seed && config.db.seed.enabled,
    };
    let administrator = database.connect().await?;
    check_before_rebuild(config, &administrator, &options, !is_own).await?;
    let platform = match database {
        TargetDatabase::Running(running) => open_own(config, running).await?,
        TargetDatabase::External(external) => open_external(config, external).await?,
    };
    let report = rebuild_project(config, &administrator, &options, Some(&platform)).await?;
    let buckets = match database {
        TargetDatabase::Running(running) if seed => {
            let logins = service_logins(|role| embedded::login_to_running(running, role));
            services::fill_buckets(config, logins).await?
        }
        _ => SeedReport::default(),
    };
    if is_own {
        mark_initialized(config)?;
    }
    let done = describe_first_start(&report, &buckets);
    anstream::println!("{GOOD}reset{GOOD:#} {}: {done}", config.project.id);
    Ok(())
}

/// Reads what the project's own database is compared with. One that an older version has made gets the files of this one with their rows
/// of the register, because what the comparison makes of them could not be made again by the next start.
async fn open_own(config: &Config, running: &RunningCluster) -> Result<Platform> {
    let session = embedded::connect_privileged(&running.superuser_login()).await?;
    let fresh = read_fresh_state(config, &session).await?;
    embedded::bring_platform_up_to_date(running, &session).await?;
    Ok(Platform::Own {
        session,
        fresh,
        access: running.access().clone(),
    })
}

/// As [`open_own`], for a database on another server.
///
/// # Errors
/// Also when it needs files of the platform schema and the login is no superuser's, who alone can apply them.
async fn open_external(config: &Config, external: &ExternalDatabase) -> Result<Platform> {
    let session = external.connect().await?;
    let is_older = is_platform_older(&session).await?;
    if is_older && !session.is_superuser() {
        return Err(MigrateError::NoPlatform.into());
    }
    let fresh = read_fresh_state(config, &session).await?;
    if is_older {
        drop(apply_platform_to_external(config, external).await?);
    }
    let session = session.is_superuser().then_some(session);
    Ok(Platform::External { session, fresh })
}
