//! Requests for a handover: SIGUSR2, and `selvedge restart`, which sends one over a socket in the home and receives the outcome.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::settings::ChangedSetting;

/// The socket in the home. Its owner and root may use it.
pub(in crate::commands) const SOCKET: &str = "server.sock";

/// The most bytes of a request, and the longest time for sending it.
const MAX_REQUEST_BYTES: u64 = 4 * 1024 * 1024;
const REQUEST_TIME: Duration = Duration::from_secs(5);
/// The pause after accepting a connection has failed, for example for lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Variables of a process, by name.
pub(in crate::commands) type Variables = BTreeMap<String, String>;

/// The request of `selvedge restart`, as a line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::commands) struct RestartRequest {
    /// The environment of the new process; `None` for that of the running one.
    pub(in crate::commands) environment: Option<Variables>,
}

/// The answer to `selvedge restart`, as a line of JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::commands) enum RestartOutcome {
    /// The process with this id serves now.
    Serves {
        pid: u32,
        changed: Vec<ChangedSetting>,
        /// Settings of PostgreSQL that take effect only with its next start.
        waiting: Vec<String>,
    },
    /// The running process goes on, because the new one failed for this reason.
    Failed(String),
}

/// Receives requests for a handover.
pub(in crate::commands) struct HandoverRequests {
    signal: Signal,
    socket: Option<UnixListener>,
}

impl HandoverRequests {
    /// Handles SIGUSR2 from now on, which would otherwise end the process.
    ///
    /// # Errors
    /// When the signal's handler cannot be installed.
    pub(in crate::commands) fn listen() -> Result<Self> {
        let signal = signal(SignalKind::user_defined2()).context("cannot listen to signals")?;
        Ok(Self { signal, socket: None })
    }

    /// Opens the socket in a home, replacing that of the previous server.
    pub(in crate::commands) fn open_socket(&mut self, home: &Path) {
        match bind_socket(home) {
            Ok(socket) => self.socket = Some(socket),
            // For example when the path is longer than a socket's may be. SIGUSR2 works without the socket.
            Err(error) => {
                tracing::warn!(%error, "`selvedge restart` cannot reach this server; SIGUSR2 does");
            }
        }
    }

    /// The next request.
    pub(super) async fn next(&mut self) -> HandoverRequest {
        let Self { signal, socket } = self;
        loop {
            tokio::select! {
                Some(()) = signal.recv() => return HandoverRequest::of_signal(),
                accepted = accept(socket.as_ref()) => match accepted {
                    Ok(client) => match tokio::time::timeout(REQUEST_TIME, read_request(client)).await {
                        Ok(Ok(request)) => return request,
                        Ok(Err(error)) => tracing::warn!(%error, "a request on the home's socket cannot be read"),
                        Err(_) => tracing::warn!("a request on the home's socket does not arrive"),
                    },
                    Err(error) => {
                        tracing::warn!(%error, "a connection to the home's socket could not be accepted");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
    }
}

fn bind_socket(home: &Path) -> io::Result<UnixListener> {
    let (path, new) = (home.join(SOCKET), home.join(".server.sock"));
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let socket = UnixListener::bind(&new)?;
    fs::set_permissions(&new, Permissions::from_mode(0o600))?;
    // Replaced by a rename, so that one of the two servers answers at every moment.
    fs::rename(&new, &path)?;
    Ok(socket)
}

async fn accept(socket: Option<&UnixListener>) -> io::Result<UnixStream> {
    match socket {
        Some(socket) => Ok(socket.accept().await?.0),
        None => std::future::pending().await,
    }
}

async fn read_request(client: UnixStream) -> Result<HandoverRequest> {
    let mut line = String::new();
    let mut reader = BufReader::new(client.take(MAX_REQUEST_BYTES));
    reader.read_line(&mut line).await?;
    let request: RestartRequest = serde_json::from_str(&line)?;
    Ok(HandoverRequest {
        environment: request.environment,
        client: Some(reader.into_inner().into_inner()),
    })
}

/// A request for a handover.
pub(super) struct HandoverRequest {
    environment: Option<Variables>,
    /// The connection that receives the outcome; `None` after a signal.
    client: Option<UnixStream>,
}

impl HandoverRequest {
    fn of_signal() -> Self {
        Self {
            environment: None,
            client: None,
        }
    }

    /// The environment of the new process; `None` for that of this one.
    pub(super) fn environment(&self) -> Option<&Variables> {
        self.environment.as_ref()
    }

    /// Sends the outcome to the connection that has asked, if there is one.
    pub(super) async fn answer(self, outcome: &RestartOutcome) {
        let Some(mut client) = self.client else { return };
        let mut line = serde_json::to_string(outcome).unwrap_or_default();
        line.push('\n');
        if let Err(error) = client.write_all(line.as_bytes()).await {
            tracing::debug!(%error, "whoever asked for the restart is gone");
        }
    }
}
