//! The process that runs a project: content of the lock file, and the message that a second start prints.

use std::fmt;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// The process that runs a project, stored as JSON in `.selvedge/lock`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHolder {
    /// Its process id; 0 while it has not been written yet.
    pub pid: u32,
    /// When it took the lock.
    pub started_at: SystemTime,
    /// PostgreSQL's port.
    pub database_port: u16,
    /// Ports of the services.
    pub service_ports: Vec<u16>,
    /// The project's state folder.
    pub state_dir: PathBuf,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.started_at.elapsed().unwrap_or_default().as_secs();
        let since = match since {
            0..120 => format!("{since} s"),
            120..7200 => format!("{} min", since / 60),
            _ => format!("{} h", since / 3600),
        };
        let ports: Vec<String> = self
            .service_ports
            .iter()
            .filter(|port| **port != 0)
            .chain([&self.database_port])
            .map(ToString::to_string)
            .collect();
        write!(
            f,
            "this project already runs: process {}, for {since}, on ports {} ({})",
            self.pid,
            ports.join(", "),
            self.state_dir.display()
        )
    }
}
