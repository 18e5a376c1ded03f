//! Stops the HTTP servers in order: the stop is announced to load balancers, then no new requests are accepted, the running
//! ones are finished, and the servers end.

use std::future::Future;
use std::net::{Shutdown, TcpListener};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use actix_web::dev::{Server, ServerHandle};
use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_functions::Functions;
use selvedge_gateway::{Drain, open_connections};
use selvedge_ports::refuse_new_connections;
use selvedge_postgres::Database;
use selvedge_realtime::Realtime;
use selvedge_telemetry::Telemetry;
use socket2::SockRef;
use tokio::runtime::{Handle, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::services::Services;

/// A second signal within this time is ignored: after Ctrl-C the terminal signals this process and `npx`, which passes its signal
/// on to this process.
const SAME_SIGNAL: Duration = Duration::from_millis(500);

/// How long the workers have to take the connections that were opened before further ones were refused.
const SETTLE_TIME: Duration = Duration::from_millis(300);

/// The least time that a process lives after a handover, so that accepted connections and TLS handshakes reach their worker.
const LEAST_TIME: Duration = Duration::from_secs(2);
/// How often it checks whether connections are open.
const CONNECTIONS_POLL: Duration = Duration::from_millis(100);

/// How long connections of the database's pools may be in use before the workers that have opened them end nevertheless.
const POOL_CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Receives Ctrl-C, SIGTERM and the end of the terminal from the moment it is made, so that a signal during the start is not lost.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// The terminal was closed. Without a handler the process would end at once and leave PostgreSQL behind. `None` when the
    /// process outlives its terminal.
    hang_up: Option<Signal>,
}

impl Signals {
    /// Starts to receive SIGINT, SIGTERM and SIGHUP. A SIGHUP that was ignored when the process began, as `nohup` makes it, stays
    /// ignored.
    ///
    /// # Errors
    /// When the operating system refuses it.
    pub(super) fn listen() -> Result<Self> {
        let hang_up = match is_hang_up_ignored() {
            true => None,
            false => Some(listen_to(SignalKind::hangup())?),
        };
        Ok(Self {
            hang_up,
            ..Self::listen_without_terminal()?
        })
    }

    /// Starts to receive SIGINT and SIGTERM, and ignores SIGHUP: for a server in production, which a shell may have started
    /// without a service manager.
    ///
    /// # Errors
    /// When the operating system refuses it.
    pub(super) fn listen_in_production() -> Result<Self> {
        if !is_hang_up_ignored() {
            // The handler stays for as long as the process lives, and nobody waits for it.
            drop(listen_to(SignalKind::hangup())?);
        }
        Self::listen_without_terminal()
    }

    fn listen_without_terminal() -> Result<Self> {
        Ok(Self {
            interrupt: listen_to(SignalKind::interrupt())?,
            terminate: listen_to(SignalKind::terminate())?,
            hang_up: None,
        })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = wait_for_hang_up(self.hang_up.as_mut()) => {}
        }
    }

    /// Waits for a signal that comes at least [`SAME_SIGNAL`] later.
    async fn next_distinct(&mut self) {
        let begun = Instant::now();
        loop {
            self.next().await;
            if begun.elapsed() >= SAME_SIGNAL {
                return;
            }
        }
    }
}

/// Waits for the end of the terminal, if that ends the process.
async fn wait_for_hang_up(hang_up: Option<&mut Signal>) {
    match hang_up {
        Some(hang_up) => {
            hang_up.recv().await;
        }
        None => std::future::pending().await,
    }
}

fn listen_to(kind: SignalKind) -> Result<Signal> {
    signal(kind).context("cannot listen to signals")
}

/// Whether this process ignores SIGHUP, which it inherits from the program that started it. Read from what Linux tells of the
/// process; elsewhere the answer is false.
pub(super) fn is_hang_up_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignores_hang_up(&status)
}

/// Whether the set of ignored signals in a process's `status` has SIGHUP. It is hexadecimal, and signal 1 is its lowest bit.
fn ignores_hang_up(status: &str) -> bool {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored
        .and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .is_some_and(|set| set & 1 == 1)
}

/// Runs a server as a separate task and returns the handle that stops it.
pub(super) fn spawn_server(server: Server) -> ServerHandle {
    let handle = server.handle();
    actix_web::rt::spawn(async move {
        if let Err(error) = server.await {
            tracing::error!(%error, "the HTTP server ended");
        }
    });
    handle
}

/// What is stopped besides the HTTP servers, and how the stop is announced.
#[derive(Default)]
pub(super) struct StopPlan {
    pub(super) drain: Drain,
    /// How long requests are still accepted after the announcement.
    pub(super) drain_delay: Duration,
    /// Further handles of the servers' listeners, where a load balancer must not lose a request: they refuse connections before the
    /// servers close them.
    pub(super) listeners: Vec<TcpListener>,
    /// Handles of ports that an earlier process may have, too.
    pub(super) shared_ports: Vec<TcpListener>,
    /// The database whose pools the workers share.
    pub(super) database: Option<Arc<Database>>,
    pub(super) realtime: Option<Realtime>,
    pub(super) functions: Option<Functions>,
    pub(super) telemetry: Option<Telemetry>,
}

impl StopPlan {
    /// Returns the plan for these services.
    pub(super) fn from_services(services: &Services, config: &Config) -> Self {
        Self {
            drain: services.drain.clone(),
            drain_delay: config.selvedge.drain_delay,
            listeners: Vec::new(),
            shared_ports: Vec::new(),
            database: Some(services.database().clone()),
            realtime: services.realtime.clone(),
            functions: services.functions.clone(),
            telemetry: services.telemetry.clone(),
        }
    }
}

/// Whether this is the first process of a container, which ends with it.
pub(super) fn is_first_process() -> bool {
    std::process::id() == 1
}

/// Waits for a signal, or for `lost`, which ends when PostgreSQL has ended by itself, and then stops as [`stop`] does.
///
/// # Errors
/// When PostgreSQL has ended by itself; `lost` gives the reason.
pub(super) async fn wait_and_stop(
    mut signals: Signals,
    servers: Vec<ServerHandle>,
    plan: StopPlan,
    lost: impl Future<Output = String>,
) -> Result<()> {
    let failure = tokio::select! {
        () = signals.next() => None,
        reason = lost => Some(reason),
    };
    stop(signals, servers, plan).await;
    match failure {
        Some(reason) => bail!("PostgreSQL ended by itself: {reason}"),
        None => Ok(()),
    }
}

/// Announces the stop, closes realtime's sockets, stops the HTTP servers and ends the workers of functions. A second signal aborts the requests that
/// still run.
pub(super) async fn stop(mut signals: Signals, servers: Vec<ServerHandle>, mut plan: StopPlan) {
    let listeners = std::mem::take(&mut plan.listeners);
    let shared_ports = std::mem::take(&mut plan.shared_ports);
    let drain = async {
        plan.drain.begin();
        tokio::join!(
            tokio::time::sleep(plan.drain_delay),
            keep_pools(plan.database.as_deref())
        );
        // Sockets are closed before the servers stop: a worker that ends drops its sockets without a close frame.
        if let Some(realtime) = &plan.realtime {
            realtime.drain().await;
        }
        refuse_connections(listeners).await;
        close_shared_ports(&servers, shared_ports).await;
        stop_servers(&servers, &plan).await;
    };
    tokio::select! {
        () = drain => {}
        () = signals.next_distinct() => abort_requests(&servers).await,
    }
    stop_telemetry(plan.telemetry).await;
}

/// Ends the servers after another process has taken their ports. Both have handles of the listeners, so this one does not close them: it stops accepting,
/// closes realtime's sockets, whose clients reconnect to the other process, and lives until its connections have ended and `is_used` is false, at most for
/// `limit`. A signal aborts what still runs.
pub(super) async fn finish_after_handover(
    mut signals: Signals,
    servers: Vec<ServerHandle>,
    plan: StopPlan,
    is_used: impl Fn() -> bool,
    limit: Duration,
) {
    plan.drain.hand_over();
    for server in &servers {
        server.pause().await;
    }
    let finish = async {
        let realtime = async {
            if let Some(realtime) = &plan.realtime {
                realtime.drain().await;
            }
        };
        tokio::join!(realtime, wait_until_unused(is_used, limit));
        keep_pools(plan.database.as_deref()).await;
        stop_servers(&servers, &plan).await;
    };
    tokio::select! {
        () = finish => {}
        () = signals.next() => abort_requests(&servers).await,
    }
    stop_telemetry(plan.telemetry).await;
}

/// Returns when no connection is open and `is_used` says no. Until [`LEAST_TIME`] connections may be on their way to a worker.
async fn wait_until_unused(is_used: impl Fn() -> bool, limit: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < LEAST_TIME || begun.elapsed() < limit && (open_connections() > 0 || is_used()) {
        tokio::time::sleep(CONNECTIONS_POLL).await;
    }
}

/// Closes ports for all processes that have handles of them: an earlier process that finishes its requests would keep them open without accepting
/// connections.
async fn close_shared_ports(servers: &[ServerHandle], ports: Vec<TcpListener>) {
    if ports.is_empty() {
        return;
    }
    for server in servers {
        server.pause().await;
    }
    // Gives the accepting threads time to notice.
    tokio::time::sleep(CONNECTIONS_POLL).await;
    for port in ports {
        if let Err(error) = SockRef::from(&port).shutdown(Shutdown::Both) {
            tracing::debug!(%error, "a port stays open until the process before has ended");
        }
    }
}

async fn stop_servers(servers: &[ServerHandle], plan: &StopPlan) {
    for server in servers {
        server.stop(true).await;
    }
    // Workers end after the servers, because requests in progress need them.
    if let Some(functions) = &plan.functions {
        functions.drain().await;
    }
}

async fn abort_requests(servers: &[ServerHandle]) {
    for server in servers {
        server.stop(false).await;
    }
}

async fn stop_telemetry(telemetry: Option<Telemetry>) {
    if let Some(telemetry) = telemetry {
        // Sending blocks its thread. A failure is logged, and the stop continues.
        let _ = tokio::task::spawn_blocking(move || telemetry.stop()).await;
    }
}

/// Makes a thread that outlives the workers drive the connections that these share.
async fn keep_pools(database: Option<&Database>) {
    let Some(database) = database else { return };
    let runtime = lasting_runtime().unwrap_or_else(|error| {
        tracing::warn!(%error, "there is no thread for the last connections of the database");
        Handle::current()
    });
    database.move_pools(runtime, POOL_CLOSE_TIMEOUT).await;
}

/// A runtime with a thread of its own, which goes on until the process ends. The main thread's does not do: it stands still while the services are
/// dropped, which wait for their threads, and these for answers of the database.
fn lasting_runtime() -> std::io::Result<Handle> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime.handle().clone());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("last-connections")
        .enable_all()
        .build()?;
    let handle = runtime.handle().clone();
    if let Err(second) = RUNTIME.set(runtime) {
        second.shutdown_background();
    }
    Ok(RUNTIME.get().map_or(handle, |first| first.handle().clone()))
}

/// Refuses further connections, and waits until those that are open have reached a worker. Drops its handles of the listeners, which
/// would otherwise stay open after the servers have stopped.
async fn refuse_connections(listeners: Vec<TcpListener>) {
    if listeners.is_empty() {
        return;
    }
    for listener in &listeners {
        if let Err(error) = refuse_new_connections(listener) {
            tracing::warn!(%error, "connections that are opened during the stop may be reset");
        }
    }
    tokio::time::sleep(SETTLE_TIME).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn connections_are_driven_while_the_main_thread_waits_for_others() {
        let (answer, answered) = std::sync::mpsc::channel();
        let connection = async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            answer.send(())
        };
        lasting_runtime().unwrap().spawn(connection);

        // As the drop of the services does: this thread runs nothing meanwhile.
        assert!(answered.recv_timeout(Duration::from_secs(60)).is_ok());
    }

    #[test]
    fn gw_031_a_process_under_nohup_ignores_the_end_of_its_terminal() {
        assert!(ignores_hang_up(
            "Name:\tselvedge\nSigIgn:\t0000000000001001\nSigCgt:\t0\n"
        ));
        assert!(!ignores_hang_up(
            "Name:\tselvedge\nSigIgn:\t0000000000001000\nSigCgt:\t1\n"
        ));
        assert!(!ignores_hang_up(""));
    }
}
