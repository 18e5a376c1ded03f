//! `selvedge stop`: stops the running instance and waits until it has ended.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use selvedge_config::Config;
use selvedge_database::embedded::has_cluster;
use selvedge_database::home::is_home;
use selvedge_database::instance::find_server;
use selvedge_postgres::cluster::{Cluster, LockHolder};
use selvedge_terminal::GOOD;

use super::keeper;
use super::reset::{delete_project_data, lock_project};
use crate::cli::StopArgs;

/// How long PostgreSQL may take for its last checkpoint, after the `drain_delay` and the `shutdown_timeout` that requests in
/// progress get.
const SHUTDOWN_ALLOWANCE: Duration = Duration::from_secs(40);

/// Runs `selvedge stop`.
///
/// # Errors
/// When the instance is just being started, does not end in time, or belongs to another user or container.
pub(super) async fn run(config: &Config, args: &StopArgs) -> Result<()> {
    if let Some(id) = args.project_id.as_ref().filter(|id| **id != config.project.id) {
        bail!("the project of this folder is {}, not {id}", config.project.id);
    }
    if is_home(config) {
        return stop_home(config, args).await;
    }
    match Cluster::find_running(&config.selvedge.data_dir)? {
        Some(holder) => stop_instance(config, &holder).await?,
        None => end_leftover(config)?,
    }
    if args.no_backup {
        delete_data(config)?;
    }
    Ok(())
}

/// Ends the server of a home, and its PostgreSQL only with `--database`: it outlives servers.
async fn stop_home(config: &Config, args: &StopArgs) -> Result<()> {
    let server = find_server(config)?;
    match &server {
        Some(holder) => stop_instance(config, holder).await?,
        None => anstream::println!("no server of {} is running", config.project.id),
    }
    if args.database {
        match keeper::stop(config).await? {
            true => anstream::println!("{GOOD}stopped{GOOD:#} PostgreSQL of {}", config.project.id),
            false => anstream::println!("PostgreSQL of {} is not running", config.project.id),
        }
    } else if Cluster::find_running(&config.selvedge.data_dir)?.is_some() {
        anstream::println!("its PostgreSQL goes on; end it with:  selvedge stop --database");
    }
    Ok(())
}

/// Deletes database and objects, and says what of it there was.
fn delete_data(config: &Config) -> Result<()> {
    let (id, data_dir) = (&config.project.id, &config.selvedge.data_dir);
    let is_there = |name: &&str| data_dir.join(name).symlink_metadata().is_ok();
    let has_data = has_cluster(config) || ["pgdata", "location", "storage"].iter().any(is_there);
    // No missing folder is made for the lock: a project that nobody trusts may have named one outside of itself.
    let left = match data_dir.symlink_metadata() {
        Ok(_) => Some(delete_project_data(config, &lock_project(config)?)?),
        Err(_) => None,
    };
    match left.filter(|_| has_data) {
        Some(left) => anstream::println!("{GOOD}deleted{GOOD:#} {}", left.describe(id)),
        None => anstream::println!("{id} has neither a database nor objects"),
    }
    Ok(())
}

/// Ends a PostgreSQL that was left by a process that is gone.
fn end_leftover(config: &Config) -> Result<()> {
    if Cluster::end_leftover(&config.selvedge.data_dir, &config.flags.purpose)? {
        anstream::println!(
            "{GOOD}stopped{GOOD:#} the PostgreSQL that {} had left",
            config.project.id
        );
    } else {
        anstream::println!("{} is not running", config.project.id);
    }
    Ok(())
}

async fn stop_instance(config: &Config, holder: &LockHolder) -> Result<()> {
    let pid = find_process(config, holder)?;
    // SIGTERM lets the instance finish requests and shut PostgreSQL down; the lock is released when it has ended.
    kill(pid, Signal::SIGTERM).with_context(|| format!("cannot end process {pid}"))?;
    let time_limit = config.selvedge.drain_delay + config.selvedge.shutdown_timeout + SHUTDOWN_ALLOWANCE;
    let deadline = Instant::now() + time_limit;
    // The instance releases its lock after its PostgreSQL has ended.
    while find_server(config)?.is_some_and(|now| now.pid == holder.pid) {
        if Instant::now() > deadline {
            bail!("process {pid} has not ended within {} s", time_limit.as_secs());
        }
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
    }
    anstream::println!("{GOOD}stopped{GOOD:#} {}", config.project.id);
    Ok(())
}

/// The process to which the signal goes. A number alone is no identity: in another container it means another process.
fn find_process(config: &Config, holder: &LockHolder) -> Result<Pid> {
    // The lock file exists before its holder has written its process id into it.
    if holder.pid == 0 {
        bail!(
            "{} is just being started; try again in a moment",
            config.project.id
        );
    }
    if !holder.is_server() {
        bail!("{} is not running; {holder}", config.project.id);
    }
    if holder.is_in_other_container() {
        bail!(
            "{} runs in another container, as process {} there: stop it there",
            config.project.id,
            holder.pid
        );
    }
    if !holder.is_alive() {
        bail!(
            "process {} of {} has ended, and another process holds its lock (lsof {}/lock names it). No signal was sent",
            holder.pid,
            config.project.id,
            config.selvedge.data_dir.display()
        );
    }
    Ok(Pid::from_raw(
        i32::try_from(holder.pid).context("the process id of the lock is not one")?,
    ))
}
