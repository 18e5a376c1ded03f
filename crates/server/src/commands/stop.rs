//! `selvedge stop`: stops the running instance and waits until it has ended.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use selvedge_postgres::cluster::Cluster;

use super::reset::delete_project_data;
use crate::cli::StopArgs;
use crate::config::Config;
use crate::output::GOOD;

/// How long PostgreSQL may take for its last checkpoint, after the `drain_delay` and the `shutdown_timeout` that requests in
/// progress get.
const SHUTDOWN_ALLOWANCE: Duration = Duration::from_secs(40);

/// Runs `selvedge stop`.
///
/// # Errors
/// When the instance is just being started, does not end in time, or belongs to another user.
pub(super) async fn run(config: &Config, args: &StopArgs) -> Result<()> {
    if let Some(id) = args.project_id.as_ref().filter(|id| **id != config.project.id) {
        bail!("the project of this folder is {}, not {id}", config.project.id);
    }
    stop_instance(config).await?;
    if args.no_backup {
        delete_project_data(config)?;
        anstream::println!(
            "{GOOD}deleted{GOOD:#} database and objects of {}",
            config.project.id
        );
    }
    Ok(())
}

async fn stop_instance(config: &Config) -> Result<()> {
    let data_dir = &config.selvedge.data_dir;
    let Some(holder) = Cluster::find_running(data_dir)? else {
        anstream::println!("{} is not running", config.project.id);
        return Ok(());
    };
    // The lock file exists before its holder has written its process id into it.
    if holder.pid == 0 {
        bail!(
            "{} is just being started; try again in a moment",
            config.project.id
        );
    }
    let pid = Pid::from_raw(i32::try_from(holder.pid).context("the process id of the lock is not one")?);
    // SIGTERM lets the instance finish requests and shut PostgreSQL down; the lock is released when it has ended.
    kill(pid, Signal::SIGTERM).with_context(|| format!("cannot end process {pid}"))?;
    let time_limit = config.selvedge.drain_delay + config.selvedge.shutdown_timeout + SHUTDOWN_ALLOWANCE;
    let deadline = Instant::now() + time_limit;
    // The instance releases its lock after its PostgreSQL has ended.
    while Cluster::find_running(data_dir)?.is_some() {
        if Instant::now() > deadline {
            bail!("process {pid} has not ended within {} s", time_limit.as_secs());
        }
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
    }
    anstream::println!("{GOOD}stopped{GOOD:#} {}", config.project.id);
    Ok(())
}
