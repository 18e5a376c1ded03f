//! `selvedge rest`: PostgREST's API alone, on any PostgreSQL database.
//!
//! No project, no platform schema, no keys and no gateway: settings are PostgREST's, by its names, and the API stands
//! at `/`. Signals as there: SIGUSR1 reads the catalog again, SIGUSR2 the settings, SIGHUP both.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actix_web::App;
use actix_web::dev::Server;
use anyhow::{Context, Result, bail};
use selvedge_gateway::ServerBuilder;
use selvedge_gateway::telemetry::{self, LogFormat};
use selvedge_postgres::{Database, Logins, RequestPool, RequestPoolConfig};
use selvedge_rest::{Admin, MainSocket, RestConfig, RestState, configure_admin};
use tokio::signal::unix::{SignalKind, signal};
use tokio_postgres::error::SqlState;

use crate::cli::RestArgs;
use crate::config::postgrest::{self, ProcessSettings};
use crate::config::{ConfigError, Environment, postgrest_file};
use crate::external::standalone_config;
use crate::listen::{self, PortChoice};
use crate::output;
use crate::services::{Background, with_pool_settings};

use super::shutdown;

const PORT: PortChoice = PortChoice {
    what: "REST",
    flag: Some("--port"),
    setting: "PGRST_SERVER_PORT",
};
const ADMIN_PORT: PortChoice = PortChoice {
    what: "REST admin",
    flag: None,
    setting: "PGRST_ADMIN_SERVER_PORT",
};

/// Connections of all workers, as PostgREST has it.
const POOL_SIZE: usize = 10;
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
const SHUTDOWN_TIMEOUT_S: u64 = 10;
const CONNECTIONS_PER_WORKER: usize = 10_000;

/// What file, environment and flags say.
struct Settings {
    rest: RestConfig,
    process: ProcessSettings,
    warnings: Vec<String>,
}

pub(super) async fn run(args: &RestArgs) -> Result<()> {
    let settings = load(args)?;
    output::warn(&settings.warnings);
    let Settings { rest, process, .. } = settings;
    let format = if args.json_logs {
        LogFormat::Json
    } else {
        LogFormat::Pretty
    };
    telemetry::init(format, args.log.as_deref().unwrap_or(process.log_level.filter()));

    let config = standalone_config(process.db_uri.as_ref(), &Environment::of_process())?;
    let main = Listener::bind(&process)?;
    let admin_listener = admin_listener(&process)?;
    let signals = shutdown::Signals::listen()?;
    refuse_wrong_login(&config).await?;

    let pool_size = process.pool_size.unwrap_or(POOL_SIZE);
    let workers = args.workers.unwrap_or_else(|| cores().min(pool_size / 2)).max(1);
    let sized = ProcessSettings {
        pool_size: Some(pool_size),
        ..process
    };
    let pool = with_pool_settings(RequestPoolConfig::default(), &rest, &sized, workers);
    let pool_max = pool.max_connections_per_worker * workers;

    let background = Background::new()?;
    let database = Database::new(Logins::of_one(config));
    let shared = database.clone();
    let state = background
        .run(async move { Ok(RestState::new(shared, rest).await) })
        .await?;

    let mut servers = Vec::new();
    let (server, address) = main.serve(state.clone(), database.clone(), pool, workers)?;
    servers.push(shutdown::spawn(server));
    if let Some(listener) = admin_listener {
        let admin = Admin {
            state: state.clone(),
            database,
            main: address.clone(),
            pool_max,
        };
        servers.push(shutdown::spawn(admin_server(admin, listener)?));
    }
    announce(&address);
    reload_on_signals(args.clone(), state)?;
    shutdown::wait_and_stop(signals, servers, std::future::pending()).await
}

/// Reads the settings: file, environment, flags; later ones win.
fn load(args: &RestArgs) -> Result<Settings> {
    let environment = Environment::of_process();
    let mut named = match &args.config {
        Some(file) => postgrest_file::read(file, &environment).map_err(|error| ConfigError(vec![error]))?,
        None => Vec::new(),
    };
    named.extend(postgrest::from_environment(&environment));
    let mut rest = RestConfig::standalone();
    let mut process = ProcessSettings::default();
    let mut findings = postgrest::apply(&named, &mut rest, &mut process);
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

/// A database that is down may come up; one that refuses us will go on doing so.
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

/// Where the API listens.
enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, std::path::PathBuf),
}

impl Listener {
    fn bind(process: &ProcessSettings) -> Result<Self> {
        if let Some(path) = &process.unix_socket {
            let listener = bind_socket("server-unix-socket", path, process.unix_socket_mode)?;
            return Ok(Self::Unix(listener, path.clone()));
        }
        let host = address_of(&process.server_host);
        let bind = if process.reuse_port {
            listen::bind_shared
        } else {
            listen::bind
        };
        Ok(Self::Tcp(bind(&host, process.server_port, PORT)?))
    }

    fn serve(
        self,
        state: Arc<RestState>,
        database: Arc<Database>,
        pool: RequestPoolConfig,
        workers: usize,
    ) -> Result<(Server, MainSocket)> {
        let application = move || {
            let pool = RequestPool::new(database.clone(), pool.clone());
            App::new().configure(selvedge_rest::configure(state.clone(), pool))
        };
        let (listener, socket) = match self {
            Self::Tcp(listener) => {
                let address = reachable(listener.local_addr().context("the API's address")?);
                (
                    selvedge_gateway::Listener::from(listener),
                    MainSocket::Tcp(address),
                )
            }
            Self::Unix(listener, path) => (listener.into(), MainSocket::Unix(path)),
        };
        let builder = ServerBuilder::new()
            .workers(workers)
            .max_concurrent_connections(CONNECTIONS_PER_WORKER)
            .shutdown_timeout(SHUTDOWN_TIMEOUT_S)
            .disable_signals();
        let server = selvedge_gateway::listen(builder, listener, HEADER_TIMEOUT, application)
            .context("the API cannot listen")?;
        Ok((server.run(), socket))
    }
}

/// Binds a socket, in the place of one that nobody listens to any more.
fn bind_socket(setting: &str, path: &Path, mode: u32) -> Result<UnixListener> {
    if path.exists() {
        if std::os::unix::net::UnixStream::connect(path).is_ok() {
            bail!("{setting}: somebody listens on {} already", path.display());
        }
        std::fs::remove_file(path)
            .with_context(|| format!("{setting}: cannot replace {}", path.display()))?;
    }
    let listener =
        UnixListener::bind(path).with_context(|| format!("{setting}: cannot bind {}", path.display()))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
        .with_context(|| format!("{setting}: cannot set the permissions of {}", path.display()))?;
    Ok(listener)
}

fn admin_listener(process: &ProcessSettings) -> Result<Option<selvedge_gateway::Listener>> {
    if let Some(path) = &process.admin_socket {
        let listener = bind_socket("admin-server-unix-socket", path, process.admin_socket_mode)?;
        return Ok(Some(listener.into()));
    }
    let Some(port) = process.admin_port else {
        return Ok(None);
    };
    let host = process.admin_host.as_ref().unwrap_or(&process.server_host);
    if process.unix_socket.is_none() && port != 0 && port == process.server_port {
        bail!("admin-server-port must differ from server-port");
    }
    let listener = listen::bind(&address_of(host), port, ADMIN_PORT)?;
    Ok(Some(listener.into()))
}

fn admin_server(admin: Admin, listener: selvedge_gateway::Listener) -> Result<Server> {
    let admin = Arc::new(admin);
    let application = move || App::new().configure(configure_admin(admin.clone()));
    let builder = ServerBuilder::new()
        .workers(1)
        .shutdown_timeout(1)
        .disable_signals();
    let server = selvedge_gateway::listen(builder, listener, HEADER_TIMEOUT, application)
        .context("the admin server cannot listen")?;
    Ok(server.run())
}

/// PostgREST's special hosts in addresses that mean the same.
fn address_of(host: &str) -> String {
    match host {
        "*" | "*4" | "!4" => Ipv4Addr::UNSPECIFIED.to_string(),
        "*6" | "!6" => Ipv6Addr::UNSPECIFIED.to_string(),
        host => host.to_owned(),
    }
}

/// Where this process reaches a listener that takes all addresses.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        match address {
            SocketAddr::V4(_) => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            SocketAddr::V6(_) => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        }
    }
    address
}

fn announce(address: &MainSocket) {
    match address {
        MainSocket::Tcp(address) => {
            anstream::eprintln!("selvedge rest listens on http://{address}");
        }
        MainSocket::Unix(path) => {
            anstream::eprintln!("selvedge rest listens on {}", path.display());
        }
    }
}

/// SIGUSR1: the catalog. SIGUSR2: file, environment and the database's settings. SIGHUP: both.
fn reload_on_signals(args: RestArgs, state: Arc<RestState>) -> Result<()> {
    let listen = |kind| signal(kind).context("cannot listen to signals");
    let mut catalog = listen(SignalKind::user_defined1())?;
    let mut settings = listen(SignalKind::user_defined2())?;
    let mut both = listen(SignalKind::hangup())?;
    actix_web::rt::spawn(async move {
        loop {
            let (reads_settings, reads_catalog) = tokio::select! {
                _ = catalog.recv() => (false, true),
                _ = settings.recv() => (true, false),
                _ = both.recv() => (true, true),
            };
            if reads_settings {
                match load(&args) {
                    Ok(settings) => state.replace_config(settings.rest),
                    Err(error) => tracing::error!("the settings stay as they were: {error:#}"),
                }
            }
            if reads_catalog {
                state.request_reload();
            }
        }
    });
    Ok(())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_hosts_are_addresses() {
        assert_eq!(address_of("!4"), "0.0.0.0");
        assert_eq!(address_of("*6"), "::");
        assert_eq!(address_of("localhost"), "localhost");
        assert_eq!(
            reachable("0.0.0.0:3000".parse().unwrap()),
            "127.0.0.1:3000".parse().unwrap()
        );
    }
}
