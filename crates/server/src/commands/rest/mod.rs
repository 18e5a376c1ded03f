//! `selvedge rest`: only PostgREST's API, on any PostgreSQL database.
//!
//! There is no project, platform schema, API key or gateway. Settings have PostgREST's names, and the API is served at `/`.
//! As with PostgREST, SIGUSR1 reloads the catalog, SIGUSR2 the settings, and SIGHUP both.

mod listeners;
mod report;

use std::sync::Arc;

use anyhow::{Context, Result};
use selvedge_config::postgrest::{self, ProcessSettings};
use selvedge_config::{ConfigError, Environment};
use selvedge_database::capacity::{apply_pool_settings, available_cores};
use selvedge_database::external::standalone_config;
use selvedge_gateway::logging::{self, LogFormat};
use selvedge_postgres::{Database, Logins, RequestPoolConfig};
use selvedge_rest::{Admin, MainSocket, RestConfig, SchemaCache};
use selvedge_terminal::print_warnings;
use tokio::signal::unix::{SignalKind, signal};
use tokio_postgres::error::SqlState;

use self::listeners::Listener;
use super::shutdown;
use crate::cli::RestArgs;
use crate::services::{BackgroundRuntime, start_memory_budget};

/// The default of `db-pool`: connections of all workers together.
const POOL_SIZE: usize = 10;

/// The settings of file, environment and flags.
struct Settings {
    rest: RestConfig,
    process: ProcessSettings,
    warnings: Vec<String>,
}

/// Runs `selvedge rest` until a signal arrives.
///
/// # Errors
/// When a setting is wrong, a port is in use, or the database refuses the login.
pub(super) async fn run(args: &RestArgs) -> Result<()> {
    if report::print_example(args.report) {
        return Ok(());
    }
    let settings = load(args)?;
    print_warnings(&settings.warnings);
    let Settings { rest, process, .. } = settings;
    if report::run(args.report, &rest, &process).await? {
        return Ok(());
    }
    let format = if args.json_logs {
        LogFormat::Json
    } else {
        LogFormat::Pretty
    };
    logging::init_logging(format, args.log.as_deref().unwrap_or(process.log_level.filter()));

    let config = standalone_config(process.db_uri.as_ref(), &Environment::of_process())?;
    let main = Listener::bind(&process)?;
    let admin_listener = listeners::bind_admin(&process)?;
    let signals = shutdown::Signals::listen_in_production()?;
    refuse_wrong_login(&config).await?;

    let (mut pool, workers) = size_pool(args, &rest, process);
    pool.memory = start_memory_budget().context("cannot start a thread")?;
    let pool_max = pool.max_connections_per_worker * workers;

    let background = BackgroundRuntime::new()?;
    let database = Database::new(Logins::with_single_login(config));
    let shared = database.clone();
    // On the background thread, where the tasks that listen for notifications and follow the primary then stay.
    let cache = background
        .run(async move {
            shared.follow_primary();
            Ok(SchemaCache::start(shared, rest).await)
        })
        .await?;

    let mut servers = Vec::new();
    let (server, address) = main.serve(cache.clone(), database.clone(), pool, workers)?;
    servers.push(shutdown::spawn_server(server));
    if let Some(listener) = admin_listener {
        let admin = Admin {
            cache: cache.clone(),
            database: database.clone(),
            main: address.clone(),
            pool_max,
        };
        servers.push(shutdown::spawn_server(listeners::serve_admin(admin, listener)?));
    }
    print_address(&address);
    reload_on_signals(args.clone(), cache)?;
    let plan = shutdown::StopPlan {
        database: Some(database),
        ..shutdown::StopPlan::default()
    };
    shutdown::wait_and_stop(signals, servers, plan, std::future::pending()).await
}

/// The settings of each worker's pool, and the number of workers.
fn size_pool(args: &RestArgs, rest: &RestConfig, process: ProcessSettings) -> (RequestPoolConfig, usize) {
    let pool_size = process.pool_size.unwrap_or(POOL_SIZE);
    // A worker cannot use another worker's connections, and needs two (see `apply_pool_settings`). With more workers than
    // half of the pool, they would together exceed `db-pool`.
    let workers = args
        .workers
        .unwrap_or_else(|| available_cores().min(pool_size / 2))
        .max(1);
    let process = ProcessSettings {
        pool_size: Some(pool_size),
        ..process
    };
    let pool = apply_pool_settings(RequestPoolConfig::default(), rest, &process, workers);
    (pool, workers)
}

/// Reads the settings: file, environment, flags; later ones win.
fn load(args: &RestArgs) -> Result<Settings> {
    let environment = Environment::of_process();
    let mut named = match &args.config {
        Some(file) => {
            postgrest::read_settings_file(file, &environment).map_err(|error| ConfigError(vec![error]))?
        }
        None => Vec::new(),
    };
    named.extend(postgrest::from_environment(&environment));
    let mut rest = RestConfig::standalone();
    let mut process = ProcessSettings::default();
    let mut findings = postgrest::apply_setting(&named, &mut rest, &mut process);
    if let Some(url) = &args.db_url {
        process.db_uri = Some(url.clone().into());
    }
    if let Some(host) = &args.host {
        process.server_host.clone_from(host);
    }
    process.server_port = args.port.unwrap_or(process.server_port);
    if let Err(error) = rest.check_keys() {
        findings.errors.push(format!("jwt-secret {error}"));
    }
    if !findings.errors.is_empty() {
        return Err(ConfigError(findings.errors).into());
    }
    Ok(Settings {
        rest,
        process,
        warnings: findings.warnings,
    })
}

/// Fails if the database refuses the login (28P01, 28000) or does not exist (3D000), because waiting would not help. A
/// database that cannot be reached may come up later: until then requests are answered 503.
async fn refuse_wrong_login(config: &tokio_postgres::Config) -> Result<()> {
    let Err(error) = selvedge_postgres::connect(config).await else {
        return Ok(());
    };
    match error.code().map(SqlState::code) {
        Some("28P01" | "28000" | "3D000") => Err(error).context("the database refuses the login"),
        _ => {
            tracing::error!("the database cannot be reached yet; requests are answered 503 until it can");
            Ok(())
        }
    }
}

fn print_address(address: &MainSocket) {
    match address {
        MainSocket::Tcp(address) => {
            anstream::eprintln!("selvedge rest listens on http://{address}");
        }
        MainSocket::Unix(path) => {
            anstream::eprintln!("selvedge rest listens on {}", path.display());
        }
    }
}

/// Reloads on signals. SIGUSR1: the catalog. SIGUSR2: the settings of file, environment and database. SIGHUP: both.
fn reload_on_signals(args: RestArgs, cache: Arc<SchemaCache>) -> Result<()> {
    let listen = |kind| signal(kind).context("cannot listen to signals");
    let mut catalog = listen(SignalKind::user_defined1())?;
    let mut settings = listen(SignalKind::user_defined2())?;
    let mut both = listen(SignalKind::hangup())?;
    actix_web::rt::spawn(async move {
        loop {
            let (reload_settings, reload_catalog) = tokio::select! {
                _ = catalog.recv() => (false, true),
                _ = settings.recv() => (true, false),
                _ = both.recv() => (true, true),
            };
            if reload_settings {
                match load(&args) {
                    Ok(settings) => cache.replace_config(settings.rest),
                    // A wrong value must not stop a running server, so the settings before it stay in force.
                    Err(error) => tracing::error!("the settings stay as they were: {error:#}"),
                }
            }
            if reload_catalog {
                cache.request_reload();
            }
        }
    });
    Ok(())
}
