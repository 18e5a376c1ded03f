//! `selvedge stop`: ends the running instance and waits until it is gone.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use selvedge_postgres::cluster::Cluster;

use crate::config::Config;
use crate::output::GOOD;

/// How long PostgreSQL may take for its last checkpoint, on top of what requests in progress get.
const SHUTDOWN_ALLOWANCE: Duration = Duration::from_secs(40);

pub(super) async fn run(config: &Config) -> Result<()> {
    let data_dir = &config.own.data_dir;
    let Some(holder) = Cluster::find_running(data_dir)? else {
        anstream::println!("{} is not running", config.project.id);
        return Ok(());
    };
    if holder.pid == 0 {
        bail!(
            "{} is just being started; try again in a moment",
            config.project.id
        );
    }
    let pid = Pid::from_raw(i32::try_from(holder.pid).context("the process id of the lock is not one")?);
    kill(pid, Signal::SIGTERM).with_context(|| format!("cannot end process {pid}"))?;
    let patience = config.own.shutdown_timeout + SHUTDOWN_ALLOWANCE;
    let deadline = Instant::now() + patience;
    while Cluster::find_running(data_dir)?.is_some() {
        if Instant::now() > deadline {
            bail!("process {pid} has not ended within {} s", patience.as_secs());
        }
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
    }
    anstream::println!("{GOOD}stopped{GOOD:#} {}", config.project.id);
    Ok(())
}
