//! Ends servers in order: no new requests, the running ones finish, then everything else.

use std::future::Future;

use actix_web::dev::{Server, ServerHandle};
use anyhow::{Context, Result, bail};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Ctrl-C and SIGTERM. Listening begins at creation, so that a signal during the start is not lost.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(super) fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen to signals");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// Waits for one of them.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Runs a server in the background.
pub(super) fn spawn(server: Server) -> ServerHandle {
    let handle = server.handle();
    actix_web::rt::spawn(async move {
        if let Err(error) = server.await {
            tracing::error!(%error, "the HTTP server ended");
        }
    });
    handle
}

/// Waits for a signal, or for the end of something that we cannot do without, and stops the servers. A
/// second signal ends the waiting for running requests.
///
/// # Errors
/// When it was not a signal that ended it.
pub(super) async fn wait_and_stop(
    mut signals: Signals,
    servers: Vec<ServerHandle>,
    lost: impl Future<Output = String>,
) -> Result<()> {
    let failure = tokio::select! {
        () = signals.next() => None,
        reason = lost => Some(reason),
    };
    let drain = async {
        for server in &servers {
            server.stop(true).await;
        }
    };
    tokio::select! {
        () = drain => {}
        () = signals.next() => {
            for server in &servers {
                server.stop(false).await;
            }
        }
    }
    match failure {
        Some(reason) => bail!("PostgreSQL ended by itself: {reason}"),
        None => Ok(()),
    }
}
