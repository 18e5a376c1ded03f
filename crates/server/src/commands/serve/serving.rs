//! The ports of `serve`: opened before anything else, accepting connections once the services run, and passed on in a handover.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::dev::ServerHandle;
use anyhow::{Result, bail};
use selvedge_config::Config;
use selvedge_keys::KeySet;
use selvedge_ports::{API_PORT, accept_connections, reserve_port};
use tokio::sync::oneshot;

use super::https::PublicPorts;
use super::{ServedDatabase, api_host, gate, own_socket, root_content};
use crate::commands::handover::{
    AppliedSettings, HandoverRequests, Passed, Predecessor, list_settings, notify_service_manager,
    wait_for_successor,
};
use crate::commands::{console, shutdown};
use crate::server;
use crate::services::Services;
use crate::tls;

/// How long a process that takes over waits until it can answer requests, and how often it checks.
const READY_TIME: Duration = Duration::from_secs(60);
const READY_POLL: Duration = Duration::from_millis(50);

/// The ports, opened and not accepting connections yet.
pub(super) struct Listeners {
    api: TcpListener,
    console: Vec<TcpListener>,
    public: Option<PublicPorts>,
    gate: Vec<TcpListener>,
}

impl Listeners {
    /// Opens the ports, or takes those of the old process.
    ///
    /// # Errors
    /// A port that is taken, or that this user may not open.
    pub(super) fn bind(config: &Config) -> Result<Self> {
        Ok(Self {
            api: reserve_port(api_host(config), config.api.port, API_PORT)?,
            console: console::bind_in_serve(config)?,
            public: PublicPorts::bind(config)?,
            gate: gate::bind(config)?,
        })
    }

    /// Further handles of all ports.
    fn try_clone(&self) -> std::io::Result<Vec<TcpListener>> {
        let others = self.console.iter().chain(&self.gate);
        let mut ports = others
            .chain([&self.api])
            .map(TcpListener::try_clone)
            .collect::<std::io::Result<Vec<_>>>()?;
        if let Some(public) = &self.public {
            ports.extend(public.try_clone()?);
        }
        Ok(ports)
    }
}

/// The servers that accept connections.
pub(super) struct Serving {
    handles: Vec<ServerHandle>,
    plan: shutdown::StopPlan,
    gate: Option<gate::OpenGate>,
    /// Handles of all ports, for the next handover.
    ports: Vec<TcpListener>,
    /// Whether an earlier process may still have handles of the ports.
    is_successor: bool,
}

/// Starts to accept connections.
///
/// # Errors
/// When a port cannot be listened on, or a certificate or file of the site cannot be read.
pub(super) async fn start(
    config: &Config,
    keys: &KeySet,
    database: &ServedDatabase,
    services: &Arc<Services>,
    listeners: Listeners,
    is_successor: bool,
) -> Result<Serving> {
    let ports = listeners.try_clone()?;
    let console = console::start(config, keys, services, listeners.console).await?;
    let mut plan = shutdown::StopPlan::from_services(services, config);
    // Without `drain_delay` no load balancer is expected to notice the stop, so the ports close at once.
    if !plan.drain_delay.is_zero() {
        plan.listeners.push(listeners.api.try_clone()?);
        if let Some(public) = &listeners.public {
            plan.listeners.extend(public.try_clone()?);
        }
    }
    accept_connections(&listeners.api, API_PORT)?;
    let mut served = tls::api_listeners(config, vec![listeners.api])?;
    let (mut plain, mut tls) = (None, None);
    if let Some(public) = listeners.public {
        let started = public.start(config, services)?;
        served.extend(started.https);
        (plain, tls) = (Some(started.plain), Some(started.tls));
    }
    let gate = gate::open(config, services, own_socket(database), listeners.gate, tls)?;
    let api = server::start_api(
        config,
        Arc::clone(services),
        root_content(config, keys)?,
        served,
        // The check of the Host header protects development servers from DNS rebinding; here requests need an API key instead.
        None,
    )?;
    let handle = shutdown::spawn_server(api);
    Ok(Serving {
        handles: Vec::from_iter([handle].into_iter().chain(console).chain(plain)),
        plan,
        gate,
        ports,
        is_successor,
    })
}

impl Serving {
    /// Serves until a signal arrives or another process has taken over. Returns whether one has. Dropping `watch` ends the watch over the process that
    /// keeps PostgreSQL running, which the other server watches then.
    ///
    /// # Errors
    /// When the system has no handles left.
    pub(super) async fn wait_for_end(
        self,
        config: &Config,
        database: &ServedDatabase,
        mut signals: shutdown::Signals,
        mut requests: HandoverRequests,
        watch: Option<oneshot::Sender<()>>,
    ) -> Result<bool> {
        let lock = match database {
            ServedDatabase::Own(own) => own.share_lock()?,
            ServedDatabase::External(_) => None,
        };
        let listeners = self.ports;
        let passed = Passed { listeners, lock };
        let is_handed_over = wait_for_successor(&mut signals, &mut requests, &passed, config).await;
        drop(requests);
        if !is_handed_over {
            let mut plan = self.plan;
            if self.is_successor {
                plan.shared_ports = passed.listeners;
                self.gate.iter().for_each(gate::OpenGate::stop_accepting);
            } else {
                // With further handles the ports would stay open after the servers have stopped.
                drop(passed);
            }
            shutdown::stop(signals, self.handles, plan).await;
            // Ends only now, or PostgreSQL would be started again when it is stopped from here on.
            drop(watch);
            return Ok(false);
        }
        drop((watch, passed));
        if let Some(gate) = &self.gate {
            gate.stop_accepting();
        }
        let is_used = || self.gate.as_ref().is_some_and(gate::OpenGate::has_sessions);
        let limit = config.selvedge.handover_timeout;
        shutdown::finish_after_handover(signals, self.handles, self.plan, is_used, limit).await;
        Ok(true)
    }
}

/// Takes the home's lock over, and tells the old process, or else the service manager, that this process serves.
///
/// # Errors
/// When the lock cannot be written.
pub(super) fn take_over(
    config: &Config,
    database: ServedDatabase,
    requests: &mut HandoverRequests,
    predecessor: &mut Option<Predecessor>,
) -> Result<ServedDatabase> {
    let mut waiting = Vec::new();
    let database = match database {
        ServedDatabase::Own(own) => {
            let own = own.take_over(config)?;
            requests.open_socket(&config.selvedge.data_dir);
            waiting.extend_from_slice(own.waiting_settings());
            ServedDatabase::Own(own)
        }
        external => external,
    };
    let settings = list_settings(config);
    match predecessor.take() {
        Some(predecessor) => predecessor.report_serving(AppliedSettings { settings, waiting }),
        None => notify_service_manager("READY=1"),
    }
    Ok(database)
}

/// Returns when requests can be answered. A process that takes over accepts no connection before.
///
/// # Errors
/// When requests cannot be answered within [`READY_TIME`].
pub(super) async fn wait_until_ready(services: &Services) -> Result<()> {
    let health = services.health();
    let deadline = Instant::now() + READY_TIME;
    while let Some(reason) = health.find_fault().await {
        if Instant::now() > deadline {
            bail!("requests cannot be answered: {reason}");
        }
        actix_web::rt::time::sleep(READY_POLL).await;
    }
    Ok(())
}
