//! `selvedge stack`: a fresh copy of the project for one test, with its own database, objects, keys and ports.
//!
//! It prints one line of JSON when it serves requests, and runs until standard input ends. A test runner that is killed
//! closes that pipe, too, so that nothing is left running. `lease` gets the database from the `host`, a process that all
//! stacks of the project share.

mod databases;
mod host;
mod lease;
mod messages;
mod state;

use std::io::Read as _;
use std::time::Duration;

use anyhow::{Result, bail};
use secrecy::ExposeSecret;
use selvedge_config::{Config, Mode};
use selvedge_database::{EMBEDDED_PASSWORD, service_logins};
use selvedge_gateway::logging::LogFormat;
use selvedge_keys::KeySet;
use selvedge_postgres::cluster::{REPLICATION_LOGIN, read_replication_password};
use selvedge_token::{KeyAlgorithm, generate_signing_key};
use tokio::sync::oneshot;

use super::development::{self, Listeners};
use super::instance_values;
use super::logging::start_logging;
use super::shutdown::Signals;
use crate::cli::StackArgs;
use crate::services::{BackgroundRuntime, Services};
use lease::Lease;
use messages::LeasedDatabase;

/// Errors, and what edge functions print. Warnings about a copy of the project would repeat for every test.
const DEFAULT_LOG_FILTER: &str = "error,edge_function=info";

/// How long workers of edge functions get to end. The data is thrown away, so nothing is lost when they are cut off.
const FUNCTIONS_END_TIME: Duration = Duration::from_millis(50);

/// Runs `selvedge stack` until standard input ends.
///
/// # Errors
/// When no database can be leased, or the server cannot be started.
pub(super) async fn run(config: Config, args: StackArgs) -> Result<()> {
    match args.host {
        Some(folder) => host::run(config, folder).await,
        None => serve_stack(config).await,
    }
}

async fn serve_stack(mut config: Config) -> Result<()> {
    start_logging(&config, LogFormat::Pretty, DEFAULT_LOG_FILTER);
    let mut signals = Signals::listen()?;
    let input_end = watch_input()?;
    let mut lease = Lease::request(&config).await?;
    use_database(&mut config, &lease.database);
    let keys = KeySet {
        signing_keys: vec![generate_signing_key(KeyAlgorithm::Es256)],
        ..KeySet::generate()
    };
    development::decide_on_inbox(&mut config);
    let listeners = Listeners::bind_free(&mut config)?;
    let background = BackgroundRuntime::new()?;
    // The host and this process run as the same user of the operating system.
    let replication_password = read_replication_password(&lease.folder)?;
    let logins = service_logins(|role| match role {
        REPLICATION_LOGIN => login(&lease.database, role, replication_password.expose_secret()),
        _ => login(&lease.database, role, EMBEDDED_PASSWORD),
    });
    let services = Services::connect(&background, &config, logins, &keys, Mode::Development)
        .await?
        .with_meta(&config, login(&lease.database, "postgres", EMBEDDED_PASSWORD))
        .await?;
    let functions = services.functions.clone();
    let _servers = development::start_servers(&config, &keys, services, listeners).await?;
    // One line of JSON with the names of `selvedge status -o json`.
    anstream::println!(
        "{}",
        serde_json::to_string(&instance_values::urls_and_keys(&config, &keys))?
    );
    let is_lost = tokio::select! {
        _ = input_end => false,
        () = signals.next() => false,
        () = lease.wait_until_lost() => true,
    };
    if let Some(functions) = functions {
        let _ = tokio::time::timeout(FUNCTIONS_END_TIME, functions.drain()).await;
    }
    // Requests in progress are cut off: the end of this process closes the lease, and the host removes the database.
    if is_lost {
        bail!("the process that runs PostgreSQL for the stacks has ended");
    }
    Ok(())
}

/// Changes the configuration to that of a small server with the leased database.
fn use_database(config: &mut Config, database: &LeasedDatabase) {
    config.db.port = database.port;
    config.db.name.clone_from(&database.name);
    // Modules that edge functions import are downloaded once, and not for every stack.
    let functions = &mut config.selvedge.functions;
    let modules = config.selvedge.data_dir.join("functions/cache");
    functions.cache_dir.get_or_insert(modules);
    functions.reload.get_or_insert(false);
    config.selvedge.data_dir.clone_from(&database.data_dir);
    config.selvedge.database_url = None;
    config.selvedge.replicas = None;
    config.selvedge.s3 = None;
    config.selvedge.nats = None;
    config.api.external_url = None;
    config.console.enabled_in_start = false;
    // Many stacks run side by side, and each is used by one test.
    config.selvedge.workers = Some(1);
    config.selvedge.connections_per_worker = 1;
    config.selvedge.service_connections = config.selvedge.service_connections.min(3);
    config.realtime.database_connections = 1;
}

/// How to log in to the stack's database.
fn login(database: &LeasedDatabase, role: &str, password: &str) -> tokio_postgres::Config {
    let mut login = tokio_postgres::Config::new();
    login
        .host("127.0.0.1")
        .port(database.port)
        .user(role)
        .password(password)
        .dbname(&database.name);
    login
}

/// Returns a receiver that completes when standard input has ended.
fn watch_input() -> Result<oneshot::Receiver<()>> {
    let (sender, receiver) = oneshot::channel();
    // Reading blocks, and a blocking thread of the runtime would keep the process from ending on a signal.
    std::thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || {
            let mut ignored = [0; 256];
            while std::io::stdin().read(&mut ignored).is_ok_and(|length| length > 0) {}
            // The receiver was dropped when the process is ending for another reason.
            let _ = sender.send(());
        })?;
    Ok(receiver)
}
