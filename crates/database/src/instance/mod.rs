//! A running instance of `selvedge start`, or of `selvedge serve` with its own database: its ports and addresses. Source: gateway
//! contract §6.

pub mod probe;

use selvedge_config::Config;
use selvedge_postgres::cluster::{
    Cluster, ClusterError, LockHolder, LockPurpose, ProjectLock, is_production_home,
};

use crate::EMBEDDED_PASSWORD;
use crate::state::home::is_home;

/// The process that serves the project: that of `start`, which is PostgreSQL's parent as well, or that of `serve` in the home of a
/// production database. Its database is reached by [`RunningCluster`](selvedge_postgres::cluster::RunningCluster).
///
/// # Errors
/// When the lock file cannot be opened.
pub fn find_server(config: &Config) -> Result<Option<LockHolder>, ClusterError> {
    let home = &config.selvedge.data_dir;
    match is_home(config) {
        true => ProjectLock::find_server(home),
        false => Cluster::find_running(home),
    }
}

/// What to do about the process that has the project.
pub fn describe_holder(error: &ClusterError) -> String {
    match error {
        ClusterError::AlreadyRunning(holder) if holder.is_server() => {
            // The keeper of a production database goes on when its server is stopped.
            let all = match is_production_home(&holder.state_dir) {
                true => " --database",
                false => "",
            };
            format!("{holder}\n  stop it first:  selvedge stop{all}")
        }
        other => other.to_string(),
    }
}

/// The ports of a running instance, read from its lock file, because flags may have chosen others than `config.toml`
/// names.
pub struct Ports {
    api: u16,
    database: u16,
    inbox: Option<u16>,
    console: Option<u16>,
}

impl Ports {
    /// The ports that `start` writes to the lock file: the API's, the inbox's and the console's, 0 for what is not served.
    /// [`Ports::from_lock`] relies on this order.
    pub fn to_lock(config: &Config) -> Vec<u16> {
        // A command that only starts PostgreSQL has opened none of them, and another project may have.
        if !config.flags.purpose.is_server {
            return Vec::new();
        }
        let port_if = |is_served: bool, port| if is_served { port } else { 0 };
        vec![
            config.api.port,
            port_if(config.inbox.enabled, config.inbox.port),
            port_if(config.console.enabled_in_start, config.console.port),
        ]
    }

    /// `None` while the instance has not written its ports yet, and for a command that serves nothing.
    pub fn from_lock(holder: &LockHolder) -> Option<Self> {
        let has_database_port =
            holder.shown_database_port() != 0 || holder.purpose.command == LockPurpose::SERVE;
        if !holder.is_server() || !has_database_port {
            return None;
        }
        let mut ports = holder.service_ports.iter().copied();
        Some(Self {
            api: ports.next()?,
            database: holder.shown_database_port(),
            inbox: ports.next().filter(|port| *port != 0),
            console: ports.next().filter(|port| *port != 0),
        })
    }

    /// Sets the ports in `config` to those of the running instance.
    pub fn apply(&self, config: &mut Config) {
        config.api.port = self.api;
        if self.database != 0 {
            config.db.port = self.database;
        }
        config.inbox.enabled = self.inbox.is_some();
        config.inbox.port = self.inbox.unwrap_or(config.inbox.port);
        config.console.enabled_in_start = self.console.is_some();
        config.console.port = self.console.unwrap_or(config.console.port);
    }
}

/// The URL of a database of the embedded cluster, as in the Supabase CLI.
pub fn database_url(port: u16, name: &str) -> String {
    format!("postgresql://postgres:{EMBEDDED_PASSWORD}@127.0.0.1:{port}/{name}")
}

/// The URL of the inbox's page.
pub fn inbox_url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

/// The URL of the console in `start`.
pub fn console_url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}
