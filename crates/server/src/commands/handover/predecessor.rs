//! The new process' side of a handover: what it receives from the old process, and what it answers.

use std::io::Write as _;
use std::net::TcpListener;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use selvedge_config::Environment;
use selvedge_ports::inherit;
use serde::{Deserialize, Serialize};

use super::handles::{receive_handles, send_handles};
use super::settings::AppliedSettings;

/// The variable that tells a process that its standard input is a socket to the process from which it takes over.
pub(super) const VARIABLE: &str = "SELVEDGE_HANDOVER";
/// Its value.
pub(super) const VALUE: &str = "standard input";

/// How long to wait for the handles. The old process has sent them before it starts this one, so they are there at once.
const RECEIVE_TIME: Duration = Duration::from_secs(10);

/// The byte that comes with the handles: whether the first of them is that of the home's lock.
const WITH_LOCK: u8 = b'L';
const WITHOUT_LOCK: u8 = b'-';

/// What the old process passes on.
pub(in crate::commands) struct Passed {
    pub(in crate::commands) listeners: Vec<TcpListener>,
    /// The lock of the home; `None` for a database on another server.
    pub(in crate::commands) lock: Option<OwnedFd>,
}

/// The answer of the new process to the old one, as a line of JSON.
#[derive(Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    /// The new process serves requests.
    Serves(AppliedSettings),
    /// The new process cannot serve, for this reason.
    Failed(String),
}

/// Sends everything to the new process.
///
/// # Errors
/// When writing to the socket fails.
pub(super) fn send_passed(socket: &UnixStream, passed: &Passed) -> std::io::Result<()> {
    let lock = passed.lock.as_ref().map(|lock| lock.as_fd());
    let kind = if lock.is_some() { WITH_LOCK } else { WITHOUT_LOCK };
    let listeners = passed.listeners.iter().map(|listener| listener.as_fd());
    let handles: Vec<_> = lock.into_iter().chain(listeners).collect();
    send_handles(socket, kind, &handles)
}

/// The old process, as the new one sees it.
pub(in crate::commands) struct Predecessor {
    socket: UnixStream,
    lock: Option<OwnedFd>,
}

impl Predecessor {
    /// Receives what the old process passes on; `None` if this process takes over from none. The listeners are kept for [`selvedge_ports`], which returns
    /// them where their addresses would be bound.
    ///
    /// # Errors
    /// When the variable is set and the standard input is no such socket.
    pub(in crate::commands) fn receive() -> Result<Option<Self>> {
        if Environment::of_process().get(VARIABLE) != Some(VALUE) {
            return Ok(None);
        }
        let explain = "this server should take the place of another one, which has passed nothing on";
        let socket = std::io::stdin().as_fd().try_clone_to_owned().context(explain)?;
        let socket = UnixStream::from(socket);
        socket.set_read_timeout(Some(RECEIVE_TIME)).context(explain)?;
        let (kind, handles) = receive_handles(&socket).context(explain)?;
        let mut handles = handles.into_iter();
        let lock = match kind {
            WITH_LOCK => handles.next(),
            WITHOUT_LOCK => None,
            _ => bail!("{explain}"),
        };
        inherit(handles.map(TcpListener::from).collect());
        Ok(Some(Self { socket, lock }))
    }

    /// The lock of the home.
    pub(in crate::commands) fn take_lock(&mut self) -> Option<OwnedFd> {
        self.lock.take()
    }

    /// Tells the old process that this one serves, so that it stops accepting connections. It may have ended meanwhile, which does not matter.
    pub(in crate::commands) fn report_serving(self, applied: AppliedSettings) {
        self.report(&Answer::Serves(applied));
    }

    /// Tells the old process why this one cannot serve.
    pub(in crate::commands) fn report_failure(&self, error: &anyhow::Error) {
        self.report(&Answer::Failed(format!("{error:#}")));
    }

    fn report(&self, answer: &Answer) {
        if let Err(error) = self.send(answer) {
            tracing::warn!(%error, "the server before is gone");
        }
    }

    fn send(&self, answer: &Answer) -> std::io::Result<()> {
        let mut line = serde_json::to_string(answer)?;
        line.push('\n');
        (&self.socket).write_all(line.as_bytes())
    }
}
