//! HTTPS of `serve` with certificates that it obtains: two public ports, while the API's own stays on this machine.

use std::net::TcpListener;
use std::sync::Arc;

use actix_web::dev::ServerHandle;
use actix_web::web;
use anyhow::{Context, Result};
use rustls::ServerConfig;
use selvedge_config::Config;
use selvedge_gateway::{Listener, keep_running};
use selvedge_ports::{HTTP_PORT, HTTPS_PORT, accept_connections, reserve_public_port};

use crate::commands::shutdown::spawn_server;
use crate::http::PlainPort;
use crate::server;
use crate::services::Services;
use crate::tls::open_acme;

/// The ports, opened and not accepting connections yet.
pub(super) struct PublicPorts {
    https: Vec<TcpListener>,
    http: Vec<TcpListener>,
}

impl PublicPorts {
    /// Opens them, on all addresses without a `host`; `None` where no certificate is obtained.
    ///
    /// # Errors
    /// A port that is taken, or that this user may not open.
    pub(super) fn bind(config: &Config) -> Result<Option<Self>> {
        let Some(section) = config.acme() else {
            return Ok(None);
        };
        let host = config.selvedge.host.as_deref();
        Ok(Some(Self {
            https: reserve_public_port(host, section.https_port, HTTPS_PORT)?,
            http: reserve_public_port(host, section.http_port, HTTP_PORT)?,
        }))
    }

    /// Further handles, for the stop.
    ///
    /// # Errors
    /// When the system has no handles left.
    pub(super) fn try_clone(&self) -> std::io::Result<Vec<TcpListener>> {
        let all = self.https.iter().chain(&self.http);
        all.map(TcpListener::try_clone).collect()
    }

    /// Accepts connections: challenges and redirects on one port, and returns the listeners of the other for the API. From here on the
    /// certificate is obtained and renewed.
    ///
    /// # Errors
    /// When the folder of the certificate cannot be used, or a listener cannot.
    pub(super) fn start(self, config: &Config, services: &Services) -> Result<StartedPorts> {
        let section = config.acme().context("the ports were opened for it")?;
        let certificates = open_acme(config, section)?;
        let plain = PlainPort {
            challenges: certificates.challenges(),
            domains: section.domains.clone(),
            https_port: section.https_port,
        };
        for listener in &self.http {
            accept_connections(listener, HTTP_PORT)?;
        }
        for listener in &self.https {
            accept_connections(listener, HTTPS_PORT)?;
        }
        let plain = server::start_plain_port(
            &config.selvedge,
            web::Data::new(plain),
            services.health(),
            self.http,
        )?;
        let tls = certificates.server_config()?;
        let certificates = Arc::new(certificates);
        actix_web::rt::spawn(keep_running("certificates", move || {
            let certificates = certificates.clone();
            async move { certificates.keep_renewed().await }
        }));
        let https = self.https.into_iter();
        let https = https.map(|listener| Listener::Tls(listener, tls.clone()));
        Ok(StartedPorts {
            https: https.collect(),
            plain: spawn_server(plain),
            tls,
        })
    }
}

/// The ports of `serve` that have been opened.
pub(super) struct StartedPorts {
    /// For the API.
    pub(super) https: Vec<Listener>,
    /// The server of the port without TLS.
    pub(super) plain: ServerHandle,
    /// The certificate, for further ports.
    pub(super) tls: Arc<ServerConfig>,
}
