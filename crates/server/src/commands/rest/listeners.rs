//! The listeners of `selvedge rest`: ports or unix sockets, for the API and for the admin server.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use actix_web::App;
use actix_web::dev::Server;
use anyhow::{Context, Result, bail};
use selvedge_config::postgrest::ProcessSettings;
use selvedge_gateway::ServerBuilder;
use selvedge_ports::{PortChoice, bind_port, bind_shared};
use selvedge_postgres::{Database, RequestPool, RequestPoolConfig};
use selvedge_rest::{Admin, MainSocket, SchemaCache, configure_admin};

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

/// How long a client may take to send the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long requests in progress may take after a signal, in seconds.
const SHUTDOWN_TIMEOUT_S: u64 = 10;
const CONNECTIONS_PER_WORKER: usize = 10_000;

/// The bound listener of the API.
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// Binds `server-unix-socket`, or `server-host` and `server-port`.
    pub(super) fn bind(process: &ProcessSettings) -> Result<Self> {
        if let Some(path) = &process.unix_socket {
            let listener = bind_socket("server-unix-socket", path, process.unix_socket_mode)?;
            return Ok(Self::Unix(listener, path.clone()));
        }
        let host = resolve_special_host(&process.server_host);
        let bind = if process.reuse_port {
            bind_shared
        } else {
            bind_port
        };
        Ok(Self::Tcp(bind(&host, process.server_port, PORT)?))
    }

    /// Makes the API's server, and returns the address under which the admin server can check it.
    pub(super) fn serve(
        self,
        cache: Arc<SchemaCache>,
        database: Arc<Database>,
        pool: RequestPoolConfig,
        workers: usize,
    ) -> Result<(Server, MainSocket)> {
        let application = move || {
            let pool = RequestPool::new(database.clone(), pool.clone());
            App::new().configure(selvedge_rest::configure(cache.clone(), pool))
        };
        let (listener, socket) = match self {
            Self::Tcp(listener) => {
                let address = loopback_if_unspecified(listener.local_addr().context("the API's address")?);
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

/// Binds a unix socket. A socket file that an ended process has left behind is replaced.
fn bind_socket(setting: &str, path: &Path, mode: u32) -> Result<UnixListener> {
    if path.exists() {
        // Only a connection attempt distinguishes a live socket from a leftover file; replacing a live one would disconnect
        // its server.
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

/// Binds the admin server's socket or port; `None` when neither is configured.
pub(super) fn bind_admin(process: &ProcessSettings) -> Result<Option<selvedge_gateway::Listener>> {
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
    let listener = bind_port(&resolve_special_host(host), port, ADMIN_PORT)?;
    Ok(Some(listener.into()))
}

/// A host at which this machine reaches its own admin server.
pub(super) fn admin_host(process: &ProcessSettings) -> String {
    let host = process.admin_host.as_ref().unwrap_or(&process.server_host);
    match resolve_special_host(host).as_str() {
        "0.0.0.0" => Ipv4Addr::LOCALHOST.to_string(),
        "::" => Ipv6Addr::LOCALHOST.to_string(),
        host => host.to_owned(),
    }
}

/// Makes the admin server.
pub(super) fn serve_admin(admin: Admin, listener: selvedge_gateway::Listener) -> Result<Server> {
    let admin = Arc::new(admin);
    let application = move || App::new().configure(configure_admin(admin.clone()));
    let builder = ServerBuilder::new()
        // Health checks are rare, and a separate thread answers them while all API workers are busy.
        .workers(1)
        .shutdown_timeout(1)
        .disable_signals();
    let server = selvedge_gateway::listen(builder, listener, HEADER_TIMEOUT, application)
        .context("the admin server cannot listen")?;
    Ok(server.run())
}

/// Translates PostgREST's special host names into addresses.
fn resolve_special_host(host: &str) -> String {
    match host {
        "*" | "*4" | "!4" => Ipv4Addr::UNSPECIFIED.to_string(),
        "*6" | "!6" => Ipv6Addr::UNSPECIFIED.to_string(),
        host => host.to_owned(),
    }
}

/// An address at which this process can reach its own listener: loopback for a listener on all addresses.
fn loopback_if_unspecified(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        match address {
            SocketAddr::V4(_) => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            SocketAddr::V6(_) => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_095_special_hosts_of_postgrest_become_addresses() {
        assert_eq!(resolve_special_host("!4"), "0.0.0.0");
        assert_eq!(resolve_special_host("*6"), "::");
        assert_eq!(resolve_special_host("localhost"), "localhost");
        assert_eq!(
            loopback_if_unspecified("0.0.0.0:3000".parse().unwrap()),
            "127.0.0.1:3000".parse().unwrap()
        );
    }
}
