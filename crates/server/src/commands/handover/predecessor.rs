//! The process whose place this one takes: what it has passed on, and what it is told.

use std::io::Write as _;
use std::net::TcpListener;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use super::handles::{receive_handles, send_handles};
use super::settings::AppliedSettings;
use crate::config::Environment;
use crate::listen;

/// The variable by which a process knows that it takes the place of another one, over its standard input.
pub(super) const VARIABLE: &str = "SELVEDGE_HANDOVER";
/// Its value.
pub(super) const VALUE: &str = "standard input";

/// How long the other process may take to send its handles. It has sent them before it starts this one.
const RECEIVE_TIME: Duration = Duration::from_secs(10);

/// Whether the handles begin with that of a lock.
const WITH_LOCK: u8 = b'L';
const WITHOUT_LOCK: u8 = b'-';

/// What the next process gets.
pub(in crate::commands) struct Passed {
    pub(in crate::commands) listeners: Vec<TcpListener>,
    /// The lock of the home; `None` for a database on another server.
    pub(in crate::commands) lock: Option<OwnedFd>,
}

/// What the new process says to the old one, as a line of JSON.
#[derive(Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    /// It serves requests.
    Serves(AppliedSettings),
    /// It will not, for this reason.
    Failed(String),
}

/// Sends what the next process gets.
///
/// # Errors
/// When the socket does not take it.
pub(super) fn send_passed(socket: &UnixStream, passed: &Passed) -> std::io::Result<()> {
    let lock = passed.lock.as_ref().map(|lock| lock.as_fd());
    let kind = if lock.is_some() { WITH_LOCK } else { WITHOUT_LOCK };
    let listeners = passed.listeners.iter().map(|listener| listener.as_fd());
    let handles: Vec<_> = lock.into_iter().chain(listeners).collect();
    send_handles(socket, kind, &handles)
}

/// The server that has started this one.
pub(in crate::commands) struct Predecessor {
    socket: UnixStream,
    lock: Option<OwnedFd>,
}

impl Predecessor {
    /// Receives what the server before passes on; `None` for a process that takes nobody's place. The ports go to whoever binds them.
    ///
    /// # Errors
    /// When the variable says so and the standard input is no socket of a server.
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
        listen::inherit(handles.map(TcpListener::from).collect());
        Ok(Some(Self { socket, lock }))
    }

    /// The lock of its home.
    pub(in crate::commands) fn take_lock(&mut self) -> Option<OwnedFd> {
        self.lock.take()
    }

    /// Tells it that this process serves, upon which it accepts no further connections. If it has ended meanwhile, nobody needs to know.
    pub(in crate::commands) fn report_serving(self, applied: AppliedSettings) {
        self.report(&Answer::Serves(applied));
    }

    /// Tells it why this process will not serve.
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
