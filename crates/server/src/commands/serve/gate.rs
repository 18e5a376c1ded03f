//! Opens the database's gate in `serve`.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;

use actix_web::rt::task::JoinHandle;
use anyhow::Result;
use rustls::ServerConfig;
use selvedge_config::Config;
use selvedge_database_gate::{Gate, MAX_SESSIONS};
use selvedge_ports::{GATE_PORT, accept_connections, reserve_public_port};
use tokio::sync::Semaphore;

use super::LOOPBACK;
use crate::services::Services;
use crate::tls;

/// Binds the port without accepting connections yet. With a certificate everybody reaches it, otherwise programs of this machine alone.
///
/// # Errors
/// When the port is taken.
pub(super) fn bind(config: &Config) -> Result<Vec<TcpListener>> {
    let Some(section) = &config.selvedge.database_gate else {
        return Ok(Vec::new());
    };
    // People reach a database on another server there, and not through this one.
    if config.selvedge.database_url.is_some() {
        return Ok(Vec::new());
    }
    let has_certificate = config.acme().is_some() || config.api.tls.is_some();
    let host = match (&section.host, has_certificate) {
        (Some(host), _) => Some(host.as_str()),
        (None, true) => config.selvedge.host.as_deref(),
        (None, false) => Some(LOOPBACK),
    };
    reserve_public_port(host, section.port, GATE_PORT)
}

/// Starts to accept connections, with `tls`, the certificate that ACME has obtained, or else that of `[api.tls]`.
///
/// # Errors
/// When a port cannot be listened on, or the files of `[api.tls]` hold no certificate with its key.
pub(super) fn open(
    config: &Config,
    services: &Services,
    socket: Option<PathBuf>,
    ports: Vec<TcpListener>,
    tls: Option<Arc<ServerConfig>>,
) -> Result<Option<OpenGate>> {
    let Some(socket) = socket.filter(|_| !ports.is_empty()) else {
        return Ok(None);
    };
    let tls = match tls {
        Some(tls) => Some(tls),
        None => tls::own_server_config(config)?,
    };
    for port in &ports {
        accept_connections(port, GATE_PORT)?;
    }
    let gate = Gate::new(services.database(), socket, tls.as_deref());
    let sessions = gate.sessions();
    let gate = gate.serve(ports);
    let accepting = actix_web::rt::spawn(async move {
        if let Err(error) = gate.await {
            tracing::error!(error = format!("{error:#}"), "the database's gate is closed");
        }
    });
    Ok(Some(OpenGate { accepting, sessions }))
}

/// The gate while it is open.
pub(super) struct OpenGate {
    accepting: JoinHandle<()>,
    sessions: Arc<Semaphore>,
}

impl OpenGate {
    /// Stops accepting connections. Open ones go on.
    pub(super) fn stop_accepting(&self) {
        self.accepting.abort();
    }

    /// Whether a session is open.
    pub(super) fn has_sessions(&self) -> bool {
        self.sessions.available_permits() < MAX_SESSIONS
    }
}
