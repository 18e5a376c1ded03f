//! The process that keeps the PostgreSQL of a home running (`selvedge cluster run`): found, started where nobody else does, watched, asked, stopped.

use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use selvedge_config::{Config, Environment};
use selvedge_postgres::cluster::{Cluster, ClusterError, LockHolder, RunningCluster, open_own_file};
use tokio::signal::unix::{SignalKind, signal as listen_to};

use super::restart_patience::RestartPatience;

/// A file in the home with what a keeper in the background has printed.
pub(super) const LOG: &str = "keeper.log";
/// A larger one begins anew.
const MOST_LOG_BYTES: u64 = 4 * 1024 * 1024;

/// How long nothing may say that PostgreSQL is coming. While it replays its log, which takes as long as it takes, it says so itself.
pub(super) const START_TIME: Duration = Duration::from_secs(180);
/// How long a service manager has to start the keeper before `serve` does.
const MANAGER_TIME: Duration = Duration::from_secs(10);
/// How long the last checkpoint of PostgreSQL may take.
const STOP_TIME: Duration = Duration::from_secs(60);
/// Time between two looks at a keeper that is starting or ending, and at one that runs.
const POLL: Duration = Duration::from_millis(50);
const WATCH_POLL: Duration = Duration::from_millis(500);
/// The pause after a start that has failed, doubled with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A variable that systemd sets for each service.
const SERVICE_VARIABLE: &str = "INVOCATION_ID";

/// The signals by which the keeper is asked: to restart PostgreSQL, and to let it read its settings.
pub(super) const RESTART: Signal = Signal::SIGUSR1;
pub(super) const RELOAD: Signal = Signal::SIGHUP;

/// Returns the home's PostgreSQL once it accepts connections. Starts a keeper that outlives this process where none runs; under systemd only
/// after the unit of the keeper had time for that.
///
/// # Errors
/// When PostgreSQL does not start, or another command has the home for itself.
pub(super) async fn find_or_start(config: &Config) -> Result<RunningCluster> {
    let home = &config.selvedge.data_dir;
    let begun = Instant::now();
    let mut restart_patience = RestartPatience::new(START_TIME);
    let is_managed = Environment::of_process().get(SERVICE_VARIABLE).is_some();
    let patience = if is_managed { MANAGER_TIME } else { Duration::ZERO };
    let mut keeper: Option<Keeper> = None;
    loop {
        match RunningCluster::find(home).await {
            Ok(Some(running)) => return Ok(running),
            Ok(None) => match &keeper {
                Some(keeper) => keeper.check()?,
                None if begun.elapsed() >= patience => {
                    if is_managed {
                        tracing::warn!(
                            "no unit runs `selvedge cluster run`, so PostgreSQL is started in this one and ends with it"
                        );
                    }
                    keeper = Some(Keeper::spawn(config)?);
                }
                None => {}
            },
            // It is starting, another command that ends has the home, or the postmaster is being replaced.
            Err(
                error
                @ (ClusterError::AlreadyRunning(_) | ClusterError::Login(_) | ClusterError::File { .. }),
            ) => {
                if !restart_patience.allows(Some(&error)) {
                    return Err(error.into());
                }
                actix_web::rt::time::sleep(POLL).await;
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        if !restart_patience.allows(None) {
            bail!(
                "PostgreSQL does not accept connections after {} s; see {}",
                START_TIME.as_secs(),
                log_file(home).display()
            );
        }
        actix_web::rt::time::sleep(POLL).await;
    }
}

/// Starts a keeper again whenever none runs. `on_change` is called with `false` when there is none and with `true` when PostgreSQL accepts
/// connections again.
pub(super) async fn watch(config: &Config, on_change: impl Fn(bool)) {
    let mut pause = FIRST_PAUSE;
    loop {
        actix_web::rt::time::sleep(WATCH_POLL).await;
        // An error is that of the lock's file, which the next look may open.
        if !matches!(Cluster::find_running(&config.selvedge.data_dir), Ok(None)) {
            continue;
        }
        on_change(false);
        tracing::error!("the process that keeps PostgreSQL running has ended and is started again");
        match find_or_start(config).await {
            Ok(_) => {
                on_change(true);
                tracing::warn!("PostgreSQL accepts connections again");
                pause = FIRST_PAUSE;
            }
            Err(error) => {
                tracing::error!(
                    error = format!("{error:#}"),
                    pause_s = pause.as_secs(),
                    "PostgreSQL does not start"
                );
                actix_web::rt::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

/// Ends the home's PostgreSQL, if it runs. Returns whether it did.
///
/// # Errors
/// When a command has the home for itself, or the keeper does not end in time.
pub(super) async fn stop(config: &Config) -> Result<bool> {
    let home = &config.selvedge.data_dir;
    let Some(holder) = Cluster::find_running(home)? else {
        return Ok(Cluster::end_leftover(home, &config.flags.purpose)?);
    };
    signal(&holder, Signal::SIGTERM)?;
    let deadline = Instant::now() + STOP_TIME;
    while Cluster::find_running(home)?.is_some_and(|now| now.pid == holder.pid) {
        if Instant::now() > deadline {
            bail!(
                "process {} has not ended within {} s",
                holder.pid,
                STOP_TIME.as_secs()
            );
        }
        actix_web::rt::time::sleep(POLL).await;
    }
    Ok(true)
}

/// Asks the keeper to let PostgreSQL read its settings again.
///
/// # Errors
/// When the process is not a keeper, or cannot be reached from here.
pub(super) fn ask_for_reload(holder: &LockHolder) -> Result<()> {
    signal(holder, RELOAD)
}

/// Asks the keeper to restart PostgreSQL.
///
/// # Errors
/// As [`ask_for_reload`].
pub(super) fn ask_for_restart(holder: &LockHolder) -> Result<()> {
    signal(holder, RESTART)
}

/// Begins to receive what `cluster restart` asks a server for. Before that the signal would end the process.
///
/// # Errors
/// When the operating system refuses it.
pub(super) fn listen_for_restarts() -> Result<tokio::signal::unix::Signal> {
    listen_to(SignalKind::from_raw(RESTART as i32)).context("cannot listen to signals")
}

/// Sends a signal to a keeper or server. A number alone is no identity: in another container it means another process.
fn signal(holder: &LockHolder, signal: Signal) -> Result<()> {
    if !holder.is_server() || holder.pid == 0 {
        bail!("{holder}");
    }
    if holder.is_in_other_container() || !holder.is_alive() {
        bail!(
            "process {} cannot be reached from here: run this command in its container",
            holder.pid
        );
    }
    let pid = Pid::from_raw(i32::try_from(holder.pid).context("the process id of the lock is not one")?);
    kill(pid, signal).with_context(|| format!("cannot send a signal to process {pid}"))
}

/// A keeper that this process has started.
struct Keeper {
    /// How it has ended. A thread waits for that, as its number stays taken until somebody does.
    ended: mpsc::Receiver<std::io::Result<ExitStatus>>,
    log: PathBuf,
    /// Where its own output begins.
    log_start: u64,
}

impl Keeper {
    /// Starts this program again as `cluster run`, in a process group of its own.
    fn spawn(config: &Config) -> Result<Self> {
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        let log = log_file(&config.selvedge.data_dir);
        let (output, log_start) =
            open_log(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = Command::new(program);
        command.arg0("selvedge").args(["cluster", "run", "--data-dir"]);
        command.arg(&config.selvedge.data_dir);
        for (flag, path) in [
            ("--project", &config.flags.project),
            ("--pg-bin", &config.flags.pg_bin),
        ] {
            if let Some(path) = path {
                command.arg(flag).arg(path);
            }
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .process_group(0)
            .spawn()
            .context("cannot start the process that keeps PostgreSQL running")?;
        tracing::info!(pid = child.id(), log = %log.display(), "starting PostgreSQL in a process of its own");
        let (sender, ended) = mpsc::channel();
        std::thread::Builder::new()
            .name("keeper".to_owned())
            // The receiver is gone once PostgreSQL accepts connections.
            .spawn(move || drop(sender.send(child.wait())))?;
        Ok(Self {
            ended,
            log,
            log_start,
        })
    }

    /// Fails with what the keeper has printed if it has ended.
    fn check(&self) -> Result<()> {
        let Ok(status) = self.ended.try_recv() else {
            return Ok(());
        };
        let status = status.context("cannot wait for the process that keeps PostgreSQL running")?;
        let printed = std::fs::read(&self.log).unwrap_or_default();
        let start = usize::try_from(self.log_start).unwrap_or(0).min(printed.len());
        let printed = String::from_utf8_lossy(&printed[start..]);
        bail!("PostgreSQL was not started ({status})\n{}", printed.trim_end());
    }
}

fn log_file(home: &Path) -> PathBuf {
    home.join(LOG)
}

/// Opens the log at its end, which is returned.
fn open_log(path: &Path) -> std::io::Result<(File, u64)> {
    let mut file = open_own_file(path, true)?;
    if file.metadata()?.len() > MOST_LOG_BYTES {
        file.set_len(0)?;
    }
    let end = file.seek(SeekFrom::End(0))?;
    Ok((file, end))
}
