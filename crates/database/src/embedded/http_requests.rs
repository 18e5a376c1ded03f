//! HTTP requests of SQL: their limits, and the socket by which the embedded cluster sends those of the extension http.

use std::os::unix::net::UnixListener;

use selvedge_config::Config;
use selvedge_jobs::{NetConfig, serve_http_requests};
use selvedge_postgres::cluster::{Cluster, ClusterError};

use crate::state::home::is_home;

/// Limits of `[selvedge.jobs]`. `calls_private` is for development, where functions and receivers of webhooks run on the
/// same machine.
pub fn request_limits(config: &Config, calls_private: bool) -> NetConfig {
    let section = &config.selvedge.jobs;
    NetConfig {
        calls_private,
        allowed_hosts: section.http_allowed_hosts.clone(),
        refused_ports: list_trusting_ports(config),
        max_parallel: section.http_parallel,
        max_timeout: section.http_timeout,
        max_response_bytes: section.http_response_size,
        ttl: section.http_response_ttl,
    }
}

/// The ports of console and inbox unless a project chooses others. Studio and the inbox of the Supabase CLI have the same.
const DEFAULT_PORTS: [u16; 2] = [54323, 54324];

/// The ports of the console and the inbox. In `start` both serve whoever reaches them, which is more than SQL may do: the console writes files
/// into the project's folder, and the inbox shows every mail. Those of another project may be at the usual ones, also where this project has
/// none of its own. The API stays, as it asks for keys.
fn list_trusting_ports(config: &Config) -> Vec<u16> {
    let own = [config.console.port, config.console.bind.port(), config.inbox.port];
    let all = own.into_iter().chain(config.inbox.smtp_port).chain(DEFAULT_PORTS);
    // Somebody may have given one of them to the API.
    all.filter(|port| *port != config.api.port).collect()
}

/// Starts to serve the extension http of a cluster, before migrations and seeds, which may call it.
///
/// # Errors
/// When the socket cannot be made.
pub(crate) fn serve_cluster(config: &Config, cluster: &Cluster) -> Result<(), ClusterError> {
    if !config.selvedge.jobs.enabled {
        return Ok(());
    }
    serve_socket(config, cluster.bind_http_socket()?);
    Ok(())
}

/// The same on a socket of the cluster. In production requests reach no private addresses.
pub fn serve_socket(config: &Config, socket: UnixListener) {
    let limits = request_limits(config, !is_home(config));
    tokio::spawn(async move {
        if let Err(error) = serve_http_requests(socket, limits).await {
            tracing::warn!(%error, "the extension http cannot send requests");
        }
    });
}
