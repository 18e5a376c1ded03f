//! `selvedge reset`: deletes the project's database and objects, and makes them again from migrations and seeds.

use std::io::{IsTerminal, Write};

use anyhow::{Context, Result, bail};
use selvedge_postgres::cluster::Cluster;
use selvedge_storage::SeedReport;

use super::summary;
use crate::config::Config;
use crate::database::embedded::{self, Embedded};
use crate::keys::KeySet;
use crate::output::{GOOD, WARN};
use crate::services::{BackgroundRuntime, Mode, Services, objects_folder};

/// Resets a project that does not run. Without `seed` neither seeds nor buckets are filled.
pub(super) async fn run(mut config: Config, is_confirmed: bool, seed: bool) -> Result<()> {
    config.db.seed.enabled &= seed;
    if let Some(holder) = Cluster::find_running(&config.selvedge.data_dir)? {
        bail!("{holder}\n  stop it first:  selvedge stop");
    }
    embedded::check_before_reset(&config)?;
    if !is_confirmed && !confirm_reset(&config)? {
        bail!("nothing was changed");
    }
    delete_project_data(&config)?;
    let embedded = Embedded::start(&config).await?;
    let buckets = if seed {
        fill_buckets(&config, &embedded).await?
    } else {
        SeedReport::default()
    };
    embedded.mark_initialized(&config)?;
    let done = summary::describe_first_start(&embedded.report, &buckets);
    anstream::println!("{GOOD}reset{GOOD:#} {}: {done}", config.project.id);
    embedded.cluster.stop().await?;
    Ok(())
}

async fn fill_buckets(config: &Config, embedded: &Embedded) -> Result<SeedReport> {
    let keys = KeySet::for_development(config)?;
    let background = BackgroundRuntime::new()?;
    // Both are dropped at the end, so that PostgreSQL's fast shutdown does not cut their connections off.
    let services =
        Services::connect(&background, config, embedded.logins(), &keys, Mode::Development).await?;
    services.seed_buckets(config).await
}

/// Deletes the database and the objects of a project that does not run.
pub(super) fn delete_project_data(config: &Config) -> Result<()> {
    // Only files: objects in a bucket of an S3 backend stay.
    let objects = objects_folder(config);
    Cluster::delete_data(&config.selvedge.data_dir)?;
    // Removed before anything is rebuilt: if the reset fails half-way, the next start runs the seeds again.
    embedded::forget_initialized(config)?;
    if objects.exists() {
        std::fs::remove_dir_all(&objects).with_context(|| format!("cannot delete {}", objects.display()))?;
    }
    Ok(())
}

/// Asks the user to type the project's name. Without a terminal `--yes` is required.
pub(super) fn confirm_reset(config: &Config) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        bail!(
            "reset deletes every row and object of {}: say so with --yes",
            config.project.id
        );
    }
    anstream::print!(
        "{WARN}This deletes every row and object of {}.{WARN:#} Type the project's name to go on: ",
        config.project.id
    );
    std::io::stdout().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(answer.trim() == config.project.id)
}
