//! `selvedge cluster`: runs the PostgreSQL of a production database, apart from the server that uses it, or restarts it.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_database::embedded;
use selvedge_database::home::is_home;
use selvedge_database::instance::find_server;
use selvedge_gateway::Hold;
use selvedge_gateway::logging::LogFormat;
use selvedge_postgres::cluster::{Cluster, ClusterConfig, DiskGuard, KeeperRequest, RunningCluster};
use selvedge_project_trust::record_project;
use selvedge_terminal::GOOD;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::logging::start_logging;
use super::restart_patience::RestartPatience;
use super::serve::prepare_home;
use super::{keeper, shutdown};
use crate::cli::ClusterAction;
use crate::services::watch_sessions;

const DEFAULT_LOG_FILTER: &str = "info,tokio_postgres=warn";

/// How long it may take until PostgreSQL begins to end: requests in progress have [`DRAIN_TIME`] before.
const BEGIN_TIME: Duration = Duration::from_secs(90);
const POLL: Duration = Duration::from_millis(50);
/// How long requests in progress have before it.
const DRAIN_TIME: Duration = Duration::from_secs(10);
/// How long requests wait for a restart. Clients and proxies give up after about a minute, and get an answer before that.
const MOST_HELD: Duration = Duration::from_secs(30);

const STARTED_AT: &str = "select pg_catalog.pg_postmaster_start_time()::pg_catalog.text";

/// Runs `selvedge cluster`.
///
/// # Errors
/// When PostgreSQL does not start, or the settings cannot be used.
pub(super) async fn run(config: Config, action: ClusterAction) -> Result<()> {
    match action {
        ClusterAction::Run(_) => keep_running(config).await,
        ClusterAction::Restart => restart(&config).await,
    }
}

/// Runs PostgreSQL until a signal arrives. Servers come and go meanwhile.
async fn keep_running(config: Config) -> Result<()> {
    start_logging(&config, LogFormat::Json, DEFAULT_LOG_FILTER);
    prepare_home(&config)?;
    let mut signals = shutdown::Signals::listen_in_production()?;
    let requests = listen_for_requests(&config)?;
    let mut cluster = tokio::select! {
        started = Cluster::start(embedded::cluster_config(&config)?) => started?,
        () = signals.next() => bail!("interrupted while PostgreSQL was starting"),
    };
    record_project(&config);
    let _watch = watch_sessions().context("cannot watch the memory")?;
    tracing::info!(
        version = cluster.binaries().major_version(),
        home = %config.selvedge.data_dir.display(),
        "PostgreSQL accepts connections"
    );
    let guard = cluster.disk_guard().map(DiskGuard::watch);
    let guard = async move {
        match guard {
            Some(guard) => guard.await,
            None => std::future::pending().await,
        }
    };
    let lost = tokio::select! {
        reason = cluster.keep_running_with(|_| (), requests) => Some(reason),
        () = guard => None,
        () = signals.next() => None,
    };
    cluster.stop().await?;
    match lost {
        Some(reason) => bail!("PostgreSQL ended by itself: {reason}"),
        None => {
            tracing::info!("stopped");
            Ok(())
        }
    }
}

/// Turns signals into requests, each with the settings that the configuration has by then.
fn listen_for_requests(config: &Config) -> Result<mpsc::Receiver<KeeperRequest>> {
    let explain = "cannot listen to signals";
    let mut restarts = keeper::listen_for_restarts()?;
    let mut reloads = signal(SignalKind::from_raw(keeper::RELOAD as i32)).context(explain)?;
    let (sender, requests) = mpsc::channel(1);
    let flags = config.flags.clone();
    actix_web::rt::spawn(async move {
        loop {
            let is_restart = tokio::select! {
                Some(()) = restarts.recv() => true,
                Some(()) = reloads.recv() => false,
                else => return,
            };
            let settings = match read_settings(&flags) {
                Ok(settings) => Box::new(settings),
                Err(error) => {
                    tracing::error!(
                        error = format!("{error:#}"),
                        "the configuration cannot be used, so nothing was changed"
                    );
                    continue;
                }
            };
            let request = match is_restart {
                true => KeeperRequest::Restart(settings),
                false => KeeperRequest::Reload(settings),
            };
            if sender.send(request).await.is_err() {
                return;
            }
        }
    });
    Ok(requests)
}

fn read_settings(flags: &selvedge_config::Flags) -> Result<ClusterConfig> {
    let config = Config::load(flags)?.config;
    let cluster = embedded::cluster_config(&config)?;
    cluster.check_settings()?;
    Ok(cluster)
}

/// Lets the keeper restart PostgreSQL, and returns when it accepts connections again.
async fn restart(config: &Config) -> Result<()> {
    if !is_home(config) {
        bail!(
            "{} is no home of a production database\n  restart a project for development:  selvedge stop, selvedge start",
            config.selvedge.data_dir.display()
        );
    }
    let home = &config.selvedge.data_dir;
    let Some(running) = RunningCluster::find(home).await? else {
        bail!(
            "PostgreSQL of {} does not run: its next start has all settings",
            config.project.id
        );
    };
    // Checked before anything ends: PostgreSQL does not start with a value that it does not know.
    embedded::cluster_config(config)?.check_settings()?;
    let restart = Restart::of(running).await?;
    // A server holds its requests back, and then asks the keeper itself.
    match find_server(config)? {
        Some(server) => keeper::ask_for_restart(&server)?,
        None => keeper::ask_for_restart(restart.running.holder())?,
    }
    restart.wait(home).await?;
    refuse_earlier_settings(config)?;
    anstream::println!("{GOOD}restarted{GOOD:#} PostgreSQL of {}", config.project.id);
    Ok(())
}

/// Says that PostgreSQL did not start with the settings of the configuration, so that the keeper has gone back to those before.
fn refuse_earlier_settings(config: &Config) -> Result<()> {
    if embedded::cluster_config(config)?.are_settings_written()? {
        return Ok(());
    }
    bail!(
        "PostgreSQL does not start with the settings of [db.settings], and runs with the earlier ones again
  why:  logs/ and {} in {}",
        keeper::LOG,
        config.selvedge.data_dir.display()
    )
}

/// A restart of PostgreSQL that somebody is going to ask for.
struct Restart {
    running: RunningCluster,
    started_at: String,
}

impl Restart {
    async fn of(running: RunningCluster) -> Result<Self> {
        let started_at = find_start(&running).await?;
        Ok(Self { running, started_at })
    }

    /// Returns when another one accepts connections. After a crash that may take hours, as PostgreSQL replays its log.
    async fn wait(&self, home: &Path) -> Result<()> {
        let asked = Instant::now();
        let mut patience = RestartPatience::new(keeper::START_TIME);
        loop {
            actix_web::rt::time::sleep(POLL).await;
            let is_waiting = match RunningCluster::find(home).await {
                Ok(Some(now)) => match find_start(&now).await {
                    Ok(started_at) if started_at != self.started_at => return Ok(()),
                    Ok(_) if asked.elapsed() > BEGIN_TIME => bail!(
                        "PostgreSQL was not restarted within {} s; see the log of process {}",
                        BEGIN_TIME.as_secs(),
                        self.running.holder().pid
                    ),
                    // It runs still, or ends now.
                    _ => patience.allows(None),
                },
                Ok(None) => patience.allows(None),
                Err(error) => patience.allows(Some(&error)),
            };
            if !is_waiting {
                bail!(
                    "PostgreSQL does not accept connections; see the log of process {}",
                    self.running.holder().pid
                );
            }
        }
    }
}

/// Restarts PostgreSQL for `cluster restart` whenever this server is asked to. Requests wait meanwhile, after those in progress have ended; where
/// it takes long they are refused in the end, so that clients know.
pub(super) async fn restart_when_asked(mut asked: Signal, config: &Config, hold: &Hold) {
    let home = &config.selvedge.data_dir;
    while asked.recv().await.is_some() {
        tracing::info!("PostgreSQL is restarted; requests wait");
        if !hold.begin(DRAIN_TIME, MOST_HELD).await {
            tracing::warn!("some requests in progress have not ended, and may fail");
        }
        let restarted = async {
            let running = RunningCluster::find(home)
                .await?
                .context("PostgreSQL does not run")?;
            let restart = Restart::of(running).await?;
            keeper::ask_for_restart(restart.running.holder())?;
            restart.wait(home).await
        };
        if let Err(error) = restarted.await {
            tracing::error!(error = format!("{error:#}"), "PostgreSQL could not be restarted");
        }
        hold.end();
    }
}

async fn find_start(running: &RunningCluster) -> Result<String> {
    let session = embedded::connect_privileged(&running.superuser_login()).await?;
    Ok(session.query_one(STARTED_AT, &[]).await?.try_get(0)?)
}
