//! The embedded cluster: a PostgreSQL of the project's own, in its `.selvedge/` folder.
//!
//! `binaries` finds PostgreSQL, `program_tree` arranges it so that `postgres` may create extensions, `owner` decides as
//! whom and where it runs (PostgreSQL refuses root), `init` creates the data directory once, `postmaster` starts, watches
//! and ends the process, `lock` refuses a second server for the same project, `replacement` puts a restored cluster in the place
//! of the old one. Schemas and tables are created by [`crate::migrate`], not here.
//!
//! Three rules keep data safe: `fsync` stays on, the next start shuts down a postmaster that a killed server left
//! running, and a data directory gets its final name only after it has been written completely and synced to disk.

mod backend_priority;
mod binaries;
mod config;
mod data_home;
mod error;
mod init;
mod lock;
mod lock_holder;
mod npm;
mod npm_name;
mod owner;
mod postmaster;
mod program_tree;
mod replacement;
mod sockets;
mod supervise;
#[cfg(test)]
mod tests;
mod vault_key;

use std::{
    os::unix::net::UnixListener,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use secrecy::{ExposeSecret, SecretString};

pub use backend_priority::lower_backend_priority;
pub use binaries::Binaries;
pub use config::ClusterConfig;
pub use error::ClusterError;
pub use lock::ProjectLock;
pub use lock_holder::LockHolder;
pub use npm_name::{package_name as npm_package_name, platform_name as npm_platform_name};
pub use program_tree::{ExtensionFile, ExtensionPlace};
pub use replacement::{Replacement, StagedPath};

pub use owner::Owner;
use postmaster::Postmaster;
pub use sockets::bind_http_socket;
pub use vault_key::ensure_vault_key;

/// The cluster's superuser, made by `initdb`.
pub const SUPERUSER: &str = "supabase_admin";

/// The one database of a cluster.
pub const DATABASE: &str = "postgres";

/// How long a start may take. Long, because a crash recovery replays the WAL before connections are accepted.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// A running PostgreSQL that ends when this value is dropped or stopped.
#[derive(Debug)]
pub struct Cluster {
    postmaster: Postmaster,
    config: ClusterConfig,
    owner: Owner,
    binaries: Binaries,
    socket_dir: PathBuf,
    data_dir: PathBuf,
    port: u16,
    superuser_password: SecretString,
    is_new: bool,
    /// The project's lock; dropping the cluster releases it.
    _lock: ProjectLock,
}

impl Cluster {
    /// Starts the project's PostgreSQL and returns when it accepts connections. Creates its data directory first when
    /// there is none; ends a postmaster that an earlier server left behind.
    ///
    /// # Errors
    /// See [`ClusterError`]; the message of each variant is written for the person who started the server.
    pub async fn start(config: ClusterConfig) -> Result<Self, ClusterError> {
        let started = Instant::now();
        let lock = ProjectLock::acquire(&config.state_dir, config.port, &config.service_ports)?;
        // Started on a separate thread, because file access, child processes and polling block.
        let cluster = tokio::task::spawn_blocking(move || Self::start_blocking(&config, lock))
            .await
            .map_err(|_| ClusterError::Interrupted)??;
        tracing::debug!(
            elapsed_ms = started.elapsed().as_millis(),
            version = cluster.binaries.major_version(),
            data_dir = %cluster.data_dir.display(),
            "PostgreSQL accepts connections"
        );
        Ok(cluster)
    }

    fn start_blocking(config: &ClusterConfig, lock: ProjectLock) -> Result<Self, ClusterError> {
        let owner = Owner::for_this_process()?;
        replacement::finish_replacement(&config.state_dir)?;
        let home = owner.data_home(&config.state_dir)?;
        let data_dir = home.join("pgdata");
        let binaries = config
            .find_binaries_for(&data_dir)?
            .make_usable_by(&owner, &home)?;
        // Before any file of the data directory is read or written, no older postmaster may be using it.
        postmaster::end_leftover_postmaster(&data_dir)?;
        let initialized = init::ensure_data_dir(&binaries, &owner, &data_dir, config)?;
        ensure_vault_key(&home, &owner)?;
        config.write_settings(&binaries, &owner, &data_dir)?;
        let socket_dir = sockets::socket_dir(&home, &owner, config.port)?;
        let postmaster = Postmaster::start(
            &binaries,
            &owner,
            &data_dir,
            &socket_dir,
            config,
            Instant::now() + START_TIMEOUT,
        )?;
        Ok(Self {
            postmaster,
            config: config.clone(),
            owner,
            binaries,
            socket_dir,
            data_dir,
            port: config.port,
            superuser_password: initialized.superuser_password,
            is_new: initialized.is_new,
            _lock: lock,
        })
    }

    /// Makes PostgreSQL end immediately when this process is killed. Meant for temporary clusters: a PostgreSQL left by a
    /// killed process is otherwise stopped by the next start.
    ///
    /// # Errors
    /// When the watching process cannot be started.
    pub fn end_with_process(&mut self) -> Result<(), ClusterError> {
        self.postmaster.end_with_process()
    }

    /// True when this start created the data directory. Seeds and configured buckets are applied only then.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// The PostgreSQL programs of this cluster.
    #[must_use]
    pub fn binaries(&self) -> &Binaries {
        &self.binaries
    }

    /// The data directory (`PGDATA`).
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// The TCP port on 127.0.0.1, which is also part of the socket's file name.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// How to connect as the superuser. The server itself uses it for the platform schema only.
    #[must_use]
    pub fn superuser_config(&self) -> tokio_postgres::Config {
        self.config_for(SUPERUSER, &self.superuser_password)
    }

    /// How to connect as `role` over the cluster's socket, which is faster than loopback TCP.
    #[must_use]
    pub fn config_for(&self, role: &str, password: &SecretString) -> tokio_postgres::Config {
        let mut config = tokio_postgres::Config::new();
        config
            .host_path(&self.socket_dir)
            .port(self.port)
            .dbname(DATABASE)
            .user(role)
            .password(password.expose_secret())
            // PostgreSQL does not offer TLS on unix sockets.
            .ssl_mode(tokio_postgres::config::SslMode::Disable)
            .connect_timeout(Duration::from_secs(10));
        config
    }

    /// Binds the socket by which the extension http sends its requests to this process. It is in a folder that only the
    /// cluster's user can enter, so that only sessions of the cluster can connect.
    ///
    /// # Errors
    /// [`ClusterError::File`] when the folder or the socket cannot be created.
    pub fn bind_http_socket(&self) -> Result<UnixListener, ClusterError> {
        sockets::bind_http_socket(&self.socket_dir, &self.owner)
    }

    /// A connection string for other programs: `postgresql://role:password@127.0.0.1:port/postgres`.
    #[must_use]
    pub fn url_for(&self, role: &str, password: &SecretString) -> String {
        format!(
            "postgresql://{role}:{}@127.0.0.1:{}/{DATABASE}",
            password.expose_secret(),
            self.port
        )
    }

    /// Waits until PostgreSQL ends without having been asked to, and returns how it ended. Polls every 200 ms.
    pub async fn wait_for_exit(&mut self) -> String {
        loop {
            if let Some(status) = self.postmaster.has_ended() {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Starts PostgreSQL again after it has ended. Returns when it accepts connections.
    ///
    /// # Errors
    /// As [`Cluster::start`].
    pub(crate) async fn restart(&mut self) -> Result<(), ClusterError> {
        let (config, owner, binaries) = (self.config.clone(), self.owner, self.binaries.clone());
        let (data_dir, socket_dir) = (self.data_dir.clone(), self.socket_dir.clone());
        let start = move || {
            postmaster::end_leftover_postmaster(&data_dir)?;
            let deadline = Instant::now() + START_TIMEOUT;
            Postmaster::start(&binaries, &owner, &data_dir, &socket_dir, &config, deadline)
        };
        self.postmaster = tokio::task::spawn_blocking(start)
            .await
            .map_err(|_| ClusterError::Interrupted)??;
        Ok(())
    }

    /// Ends PostgreSQL: open transactions are rolled back, everything committed is on disk.
    ///
    /// # Errors
    /// [`ClusterError::StillRunning`] when it does not end within half a minute.
    pub async fn stop(mut self) -> Result<(), ClusterError> {
        tokio::task::spawn_blocking(move || self.postmaster.stop())
            .await
            .map_err(|_| ClusterError::Interrupted)?
    }

    /// The process that runs this project, or `None` when no server runs. For `status` and `stop`.
    ///
    /// # Errors
    /// When the lock file cannot be opened.
    pub fn find_running(state_dir: &Path) -> Result<Option<LockHolder>, ClusterError> {
        ProjectLock::find_holder(state_dir)
    }

    /// The folder that holds the project's data directory (`pgdata`) and the vault's key.
    ///
    /// # Errors
    /// When no user can run the cluster, or the folder cannot be created.
    pub fn data_home(state_dir: &Path) -> Result<PathBuf, ClusterError> {
        Owner::for_this_process()?.data_home(state_dir)
    }

    /// How to connect as the superuser to the cluster that another process of this project runs.
    ///
    /// # Errors
    /// When the file with its password cannot be read.
    pub fn superuser_of_running(
        state_dir: &Path,
        holder: &LockHolder,
    ) -> Result<tokio_postgres::Config, ClusterError> {
        let path = state_dir.join("superuser-password");
        let password = std::fs::read_to_string(&path).map_err(ClusterError::file(&path))?;
        let mut login = tokio_postgres::Config::new();
        login
            .host("127.0.0.1")
            .port(holder.database_port)
            .user(SUPERUSER)
            .password(password.trim())
            .dbname(DATABASE);
        Ok(login)
    }

    /// Lists data folders of projects that do not exist any more, with the state folders that they had. Only a start as root
    /// keeps data outside of the project.
    #[must_use]
    pub fn find_abandoned_data() -> Vec<(PathBuf, PathBuf)> {
        owner::find_abandoned_homes()
    }

    /// Deletes a cluster with its data and state folder.
    ///
    /// # Errors
    /// When the cluster runs, or a file cannot be deleted.
    pub fn delete_whole(state_dir: &Path) -> Result<(), ClusterError> {
        // Also stops a PostgreSQL that a killed process has left running.
        Self::delete_data(state_dir)?;
        let home = Self::data_home(state_dir)?;
        for folder in [home.as_path(), state_dir] {
            match std::fs::remove_dir_all(folder) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(ClusterError::file(folder)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Deletes the project's data, for `reset`. Takes the project's lock, so it fails while the server runs.
    ///
    /// # Errors
    /// When the project runs, or the data cannot be deleted.
    pub fn delete_data(state_dir: &Path) -> Result<(), ClusterError> {
        let _lock = ProjectLock::acquire(state_dir, 0, &[])?;
        replacement::finish_replacement(state_dir)?;
        let home = Owner::for_this_process()?.data_home(state_dir)?;
        let data_dir = home.join("pgdata");
        postmaster::end_leftover_postmaster(&data_dir)?;
        match std::fs::remove_dir_all(&data_dir) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(ClusterError::file(&data_dir)(error))
            }
            _ => Ok(()),
        }
    }
}
