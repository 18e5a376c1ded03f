//! Requests to hand over: SIGUSR2, and `selvedge restart`, which asks over a socket in the home and is told the outcome.

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

/// The socket in the home, which its owner and root may use.
pub(in crate::commands) const SOCKET: &str = "server.sock";

/// The most bytes of a request, and how long it may take.
const MAX_REQUEST_BYTES: u64 = 4 * 1024 * 1024;
const REQUEST_TIME: Duration = Duration::from_secs(5);
/// The pause after a connection could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Variables of a process, by name.
pub(in crate::commands) type Variables = BTreeMap<String, String>;

/// What `selvedge restart` asks for, as a line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::commands) struct RestartRequest {
    /// The variables of the new process; `None` for those of the running one.
    pub(in crate::commands) environment: Option<Variables>,
}

/// What it is told, as a line of JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::commands) enum RestartOutcome {
    /// A process with this id serves.
    Serves {
        pid: u32,
        changed: Vec<ChangedSetting>,
        /// Settings of PostgreSQL that take effect only with its next start.
        waiting: Vec<String>,
    },
    /// The running one goes on, for this reason.
    Failed(String),
}

/// Receives requests.
pub(in crate::commands) struct HandoverRequests {
    signal: Signal,
    socket: Option<UnixListener>,
}

impl HandoverRequests {
    /// Begins to receive SIGUSR2. Before that it would end the process.
    ///
    /// # Errors
    /// When the operating system refuses it.
    pub(in crate::commands) fn listen() -> Result<Self> {
        let signal = signal(SignalKind::user_defined2()).context("cannot listen to signals")?;
        Ok(Self { signal, socket: None })
    }

    /// Opens the socket in a home, in the place of that of the server before.
    pub(in crate::commands) fn open_socket(&mut self, home: &Path) {
        match bind_socket(home) {
            Ok(socket) => self.socket = Some(socket),
            // For example a path that is longer than a socket's may be.
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
    // At every moment one of the two servers answers there.
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

/// A request to hand over.
pub(super) struct HandoverRequest {
    environment: Option<Variables>,
    /// Who waits for the outcome.
    client: Option<UnixStream>,
}

impl HandoverRequest {
    fn of_signal() -> Self {
        Self {
            environment: None,
            client: None,
        }
    }

    /// The variables of the new process; `None` for those of this one.
    pub(super) fn environment(&self) -> Option<&Variables> {
        self.environment.as_ref()
    }

    /// Tells whoever asked what came of it.
    pub(super) async fn answer(self, outcome: &RestartOutcome) {
        let Some(mut client) = self.client else { return };
        let mut line = serde_json::to_string(outcome).unwrap_or_default();
        line.push('\n');
        if let Err(error) = client.write_all(line.as_bytes()).await {
            tracing::debug!(%error, "whoever asked for the restart is gone");
        }
    }
}
