//! Opens the database's gate in `serve`.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use rustls::ServerConfig;

use super::LOOPBACK;
use crate::config::Config;
use crate::database_gate::Gate;
use crate::listen::{self, GATE_PORT};
use crate::services::Services;
use crate::tls;

/// Opens the port, without accepting connections yet: for everybody where there is a certificate, else for this machine.
///
/// # Errors
/// When the port is taken.
pub(super) fn bind(config: &Config) -> Result<Vec<TcpListener>> {
    // A database on another server is reached there.
    let Some(section) = &config.selvedge.database_gate else {
        return Ok(Vec::new());
    };
    if config.selvedge.database_url.is_some() {
        return Ok(Vec::new());
    }
    let has_certificate = config.acme().is_some() || config.api.tls.is_some();
    let host = match (&section.host, has_certificate) {
        (Some(host), _) => Some(host.as_str()),
        (None, true) => config.selvedge.host.as_deref(),
        (None, false) => Some(LOOPBACK),
    };
    listen::reserve_public_port(host, section.port, GATE_PORT)
}

/// Accepts connections. `tls` is the certificate that was obtained.
///
/// # Errors
/// When a port or the certificate of `[api.tls]` cannot be used.
pub(super) fn open(
    config: &Config,
    services: &Services,
    socket: Option<PathBuf>,
    ports: Vec<TcpListener>,
    tls: Option<Arc<ServerConfig>>,
) -> Result<()> {
    let Some(socket) = socket.filter(|_| !ports.is_empty()) else {
        return Ok(());
    };
    let tls = match tls {
        Some(tls) => Some(tls),
        None => tls::own_server_config(config)?,
    };
    for port in &ports {
        listen::accept_connections(port, GATE_PORT)?;
    }
    let gate = Gate::new(services.database(), socket, tls.as_deref());
    let gate = gate.serve(ports);
    actix_web::rt::spawn(async move {
        if let Err(error) = gate.await {
            tracing::error!(error = format!("{error:#}"), "the database's gate is closed");
        }
    });
    Ok(())
}
