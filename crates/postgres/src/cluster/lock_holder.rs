//! The process that holds a project's lock: content of the lock file, and the message that others print.

use std::fmt;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::process_mark::ProcessMark;

/// For what a process takes the project's lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockPurpose {
    /// The command, such as `start` or `backup`.
    pub command: String,
    /// Whether it serves: other commands may work on its database meanwhile. While any other command runs they are refused.
    pub is_server: bool,
}

impl LockPurpose {
    /// The command that serves a project in production.
    pub const SERVE: &str = "serve";
    /// The command that keeps the database of a home running.
    pub const KEEP: &str = "cluster run";

    /// A command that runs the project until it is stopped.
    #[must_use]
    pub fn server(command: &str) -> Self {
        Self {
            command: command.to_owned(),
            is_server: true,
        }
    }

    /// A command that needs the project for itself, and ends.
    #[must_use]
    pub fn command(command: &str) -> Self {
        Self {
            command: command.to_owned(),
            is_server: false,
        }
    }
}

impl Default for LockPurpose {
    fn default() -> Self {
        Self::server("start")
    }
}

/// Where the PostgreSQL of a holder accepts connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Endpoint {
    /// The folder of its unix socket.
    pub(crate) socket_dir: PathBuf,
    /// The number in the socket's name.
    pub(crate) port: u16,
}

/// The process that holds a project's lock, stored as JSON in `.selvedge/lock`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHolder {
    /// Its process id; 0 while it has not been written yet.
    pub pid: u32,
    /// What tells it from other processes of this number.
    #[serde(default)]
    pub process: ProcessMark,
    /// For what it holds the lock.
    #[serde(default)]
    pub purpose: LockPurpose,
    /// When it took the lock.
    pub started_at: SystemTime,
    /// PostgreSQL's TCP port, for messages; 0 as long as it does not listen on one. Only [`super::RunningCluster`] logs in.
    pub(crate) database_port: u16,
    /// Ports of the services, which the holder had opened before it took the lock.
    pub service_ports: Vec<u16>,
    /// The project's state folder.
    pub state_dir: PathBuf,
    /// The inode of the lock's file: a copy of it, in a copy of the project, describes the holder of the original. 0 in those of older versions.
    #[serde(default)]
    pub(crate) lock_inode: u64,
    /// The device of the lock's file: in a snapshot of a file system the inode is the same.
    #[serde(default)]
    pub(crate) lock_device: u64,
    /// `None` until its PostgreSQL accepts connections.
    #[serde(default)]
    pub(crate) endpoint: Option<Endpoint>,
}

impl LockHolder {
    /// The TCP port of its PostgreSQL, to be shown to people; 0 while there is none.
    #[must_use]
    pub fn shown_database_port(&self) -> u16 {
        self.database_port
    }

    /// Whether the project is being served, or is about to be.
    #[must_use]
    pub fn is_server(&self) -> bool {
        self.purpose.is_server
    }

    /// Whether the holder runs in another container than this process, so that its process id means nothing here.
    #[must_use]
    pub fn is_in_other_container(&self) -> bool {
        self.process.is_of_other_namespace()
    }

    /// Whether the process that took the lock still exists. On other systems than Linux that is unknown, and the answer is true.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.process.start_ticks.is_none() || self.process.is_alive(self.pid)
    }
}

impl LockHolder {
    /// For how long it has the lock.
    fn describe_age(&self) -> String {
        let since = self.started_at.elapsed().unwrap_or_default().as_secs();
        match since {
            0..120 => format!("{since} s"),
            120..7200 => format!("{} min", since / 60),
            _ => format!("{} h", since / 3600),
        }
    }

    /// The TCP ports on which it listens.
    fn describe_ports(&self) -> String {
        let ports = self.service_ports.iter().chain([&self.database_port]);
        let ports = ports.filter(|port| **port != 0).map(ToString::to_string);
        ports.collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.describe_age();
        let (pid, state_dir) = (self.pid, self.state_dir.display());
        let LockPurpose { command, is_server } = &self.purpose;
        if pid == 0 {
            return write!(f, "busy: another command has just begun ({state_dir})");
        }
        if !is_server {
            return write!(
                f,
                "busy: {command} runs: process {pid}, for {since} ({state_dir}); repeat this command when it has ended"
            );
        }
        // Versions that did not write the endpoint wrote the port as soon as PostgreSQL accepted connections.
        if self.endpoint.is_none() && self.database_port != 0 {
            return write!(
                f,
                "another version of selvedge runs this project: process {pid}, for {since} ({state_dir}); stop it, and start it \
                 with this version"
            );
        }
        // `serve` has no cluster of its own, but uses that of the process which keeps it.
        if self.endpoint.is_none() && *command != LockPurpose::SERVE {
            return write!(
                f,
                "this project is just being started: process {pid}, for {since} ({state_dir})"
            );
        }
        let ports = self.describe_ports();
        if ports.is_empty() {
            return write!(
                f,
                "PostgreSQL of this project already runs: {command}, process {pid}, for {since} ({state_dir})"
            );
        }
        write!(
            f,
            "this project already runs: process {pid}, for {since}, on ports {ports} ({state_dir})"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_109_a_server_of_an_older_version_is_not_just_being_started() {
        let text = r#"{"pid":4711,"started_at":{"secs_since_epoch":1,"nanos_since_epoch":0},"database_port":54322,
            "service_ports":[54321],"state_dir":"/p/.selvedge"}"#;
        let holder: LockHolder = serde_json::from_str(text).expect("fields that are missing have defaults");

        let printed = holder.to_string();
        assert!(
            printed.contains("another version") && printed.contains("process 4711"),
            "{printed}"
        );
        assert!(holder.is_server());
    }
}
