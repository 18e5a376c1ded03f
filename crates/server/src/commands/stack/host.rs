//! The process that runs the shared cluster of a project's stacks: it creates the template, leases copies of it, and removes
//! each when its stack has ended. The first stack starts it; it ends some seconds after the last one.
//!
//! It is a separate process, so that it can clean up when stacks are killed.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use selvedge_config::Config;
use selvedge_database::capacity::available_cores;
use selvedge_database::embedded::{self, Embedded};
use selvedge_database::initialized::{is_initialized, mark_initialized};
use selvedge_ports::find_free_port;
use selvedge_postgres::cluster::{Cluster, ClusterError};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, mpsc};

use super::databases::Databases;
use super::messages::{LeasedDatabase, REQUEST};
use super::state;
use crate::commands::shutdown::Signals;
use crate::services::fill_buckets;

/// How long the host waits for the next stack. Tests start many one after the other, and each start of PostgreSQL costs more
/// than a stack.
const IDLE_TIME: Duration = Duration::from_secs(10);

/// How long a new connection may take to send its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// Settings of a cluster whose data is not needed after a crash, with room for the connections of many small servers.
const CLUSTER_SETTINGS: [(&str, &str); 8] = [
    ("fsync", "off"),
    ("full_page_writes", "off"),
    // Copies are short-lived, and a worker that cleans the template would delay the next copy.
    ("autovacuum", "off"),
    ("checkpoint_timeout", "1h"),
    ("max_connections", "500"),
    // Each stack streams the changes of its database from a separate slot.
    ("max_replication_slots", "100"),
    ("max_wal_senders", "100"),
    ("wal_writer_delay", "50ms"),
];

/// Databases that were copied in advance, because copying takes longer than everything else.
type SpareDatabases = Mutex<mpsc::Receiver<Result<LeasedDatabase, String>>>;

/// State that the tasks of all connections share.
struct Host {
    databases: Arc<Databases>,
    spares: SpareDatabases,
    connections: Cell<usize>,
}

/// Runs the host of the project's stacks until none is left.
///
/// # Errors
/// When the cluster or the template cannot be created.
pub(super) async fn run(mut config: Config, folder: PathBuf) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    // Stacks read this port from the lock file of the cluster, and wait on it while the template is made.
    config.api.port = listener.local_addr()?.port();
    config.db.port = find_free_port()?;
    config.selvedge.data_dir = folder.clone();
    let settings = CLUSTER_SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned()));
    config.db.settings.extend(settings);
    let signals = Signals::listen()?;
    let mut cluster = match start_with_template(&config, &folder).await {
        // Two stacks began at the same time, and the other one's host was quicker.
        Err(error) if is_running_already(&error) => return Ok(()),
        started => started?,
    };
    state::remove_other_states(&folder);
    let databases = Arc::new(Databases::new(&cluster, &folder));
    let outcome = serve(&mut cluster, listener, signals, &databases).await;
    // Copies that are not requested would only use disk space.
    if outcome.is_ok() {
        databases.remove_leftovers().await?;
    }
    cluster.stop().await?;
    outcome
}

fn is_running_already(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(ClusterError::AlreadyRunning(_)))
}

/// Starts the cluster; the first time with migrations, seeds and buckets.
async fn start_with_template(config: &Config, folder: &Path) -> Result<Cluster> {
    if is_initialized(config) {
        return embedded::start_cluster(config).await;
    }
    let embedded = Embedded::start(config).await?;
    fill_buckets(config, embedded.logins()).await?;
    Databases::new(&embedded.cluster, folder)
        .finish_template()
        .await?;
    mark_initialized(config)?;
    Ok(embedded.cluster)
}

/// Leases databases until none was requested for [`IDLE_TIME`].
async fn serve(
    cluster: &mut Cluster,
    listener: TcpListener,
    mut signals: Signals,
    databases: &Arc<Databases>,
) -> Result<()> {
    databases.remove_leftovers().await?;
    let host = Rc::new(Host {
        spares: Mutex::new(make_spares(databases.clone())),
        databases: databases.clone(),
        connections: Cell::new(0),
    });
    let mut idle_since = tokio::time::Instant::now();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                let host = host.clone();
                host.connections.set(host.connections.get() + 1);
                actix_web::rt::spawn(async move {
                    if let Err(error) = lend_database(&host, stream).await {
                        anstream::eprintln!("{error:#}");
                    }
                    host.connections.set(host.connections.get() - 1);
                });
            }
            () = tokio::time::sleep_until(idle_since + IDLE_TIME) => {
                if host.connections.get() == 0 {
                    return Ok(());
                }
            }
            () = signals.next() => return Ok(()),
            reason = cluster.wait_for_exit() => bail!("PostgreSQL of the stacks {reason}"),
        }
        idle_since = tokio::time::Instant::now();
    }
}

/// Copies the template in the background, as many times as tests are likely to start at the same time.
fn make_spares(databases: Arc<Databases>) -> mpsc::Receiver<Result<LeasedDatabase, String>> {
    // One more waits to be put into the full channel.
    let (sender, receiver) = mpsc::channel(available_cores().clamp(2, 8) - 1);
    actix_web::rt::spawn(async move {
        loop {
            let created = databases.create().await.map_err(|error| format!("{error:#}"));
            if sender.send(created).await.is_err() {
                return;
            }
        }
    });
    receiver
}

/// Lends a database for as long as the connection lasts.
async fn lend_database(host: &Host, stream: TcpStream) -> Result<()> {
    let mut stream = BufReader::new(stream);
    let mut request = String::new();
    tokio::time::timeout(REQUEST_TIMEOUT, stream.read_line(&mut request)).await??;
    if request.trim_end() != REQUEST {
        return Ok(());
    }
    let database = match host.spares.lock().await.recv().await {
        Some(Ok(database)) => database,
        Some(Err(reason)) => bail!("no database for a stack: {reason}"),
        None => bail!("no databases are made any more"),
    };
    let mut answer = serde_json::to_string(&database)?;
    answer.push('\n');
    // A stack that has been killed meanwhile reads nothing; its database is removed like any other.
    if stream.write_all(answer.as_bytes()).await.is_ok() {
        wait_for_end(&mut stream).await;
    }
    host.databases.remove(&database).await
}

/// Returns when the other side has closed the connection.
async fn wait_for_end(stream: &mut BufReader<TcpStream>) {
    let mut ignored = [0; 64];
    while stream.read(&mut ignored).await.is_ok_and(|length| length > 0) {}
}
