//! `selvedge reset`: a fresh database and fresh buckets, from migrations and seeds.

use std::io::{IsTerminal, Write};

use anyhow::{Context, Result, bail};
use selvedge_postgres::cluster::Cluster;

use crate::config::Config;
use crate::embedded::{self, Embedded};
use crate::key_set::KeySet;
use crate::output::{GOOD, WARN};
use crate::services::{Background, Mode, Services, objects_folder};
use crate::summary;

pub(super) async fn run(config: Config, is_confirmed: bool) -> Result<()> {
    if let Some(holder) = Cluster::find_running(&config.own.data_dir)? {
        bail!("{holder}\n  stop it first:  selvedge stop");
    }
    if !is_confirmed && !confirm(&config)? {
        bail!("nothing was changed");
    }
    let objects = objects_folder(&config);
    Cluster::delete_data(&config.own.data_dir)?;
    embedded::forget_initialized(&config)?;
    if objects.exists() {
        std::fs::remove_dir_all(&objects).with_context(|| format!("cannot delete {}", objects.display()))?;
    }
    let embedded = Embedded::start(&config).await?;
    let keys = KeySet::for_development(&config)?;
    let background = Background::new()?;
    let services =
        Services::connect(&background, &config, embedded.logins(), &keys, Mode::Development).await?;
    let buckets = services.seed_buckets(&config).await?;
    embedded.mark_initialized(&config)?;
    drop((services, background));
    let done = summary::first_start(&embedded.report, &buckets);
    anstream::println!("{GOOD}reset{GOOD:#} {}: {done}", config.project.id);
    embedded.cluster.stop().await?;
    Ok(())
}

fn confirm(config: &Config) -> Result<bool> {
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
