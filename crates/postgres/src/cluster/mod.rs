//! The embedded cluster: a PostgreSQL of the project's own, in its `.selvedge/` folder.
//!
//! `binaries` finds PostgreSQL, `program_tree` arranges it so that `postgres` may create extensions, `owner` decides as
//! whom and where it runs (PostgreSQL refuses root), `init` creates the data directory once, `postmaster` starts, watches
//! and ends the process, `lock` refuses a second server for the same project, `running` reaches the one that runs, `replacement`
//! puts a restored cluster in the place of the old one. Schemas and tables are created by [`crate::migrate`], not here.
//!
//! Three rules keep data safe: `fsync` stays on, the next start shuts down a postmaster that a killed server left
//! running, and a data directory gets its final name only after it has been written completely and synced to disk.

mod access;
mod backend_priority;
mod binaries;
mod collected_logs;
mod config;
mod data_home;
mod disk_guard;
mod disk_reserve;
mod error;
mod heartbeat;
mod init;
mod lock;
mod lock_holder;
mod log_writer;
mod npm;
mod npm_name;
mod own_file;
mod owner;
mod postmaster;
mod process_mark;
mod production;
mod production_mark;
mod program_tree;
mod replaced_programs;
mod replacement;
mod role_password;
mod running;
mod session_memory;
mod settings_file;
mod sockets;
mod start_wait;
mod supervise;
mod template;
#[cfg(test)]
mod tests;
mod vault_key;

use std::{
    os::unix::net::UnixListener,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use secrecy::{ExposeSecret, SecretString};

use crate::PrivilegedLogin;
pub use crate::hosts::SocketFolder;
use crate::hosts::check_socket_folder;

pub use access::{ClusterAccess, DEVELOPMENT_PASSWORD};
pub use backend_priority::lower_backend_priority;
pub use binaries::Binaries;
pub use config::{ClusterConfig, find_other_project, is_of_project};
pub use disk_guard::DiskGuard;
pub use error::ClusterError;
pub(crate) use init::describe_locales;
pub use lock::{InheritedLock, ProjectLock};
pub use lock_holder::{LockHolder, LockPurpose};
pub use npm_name::{package_name as npm_package_name, platform_name as npm_platform_name};
pub use process_mark::ProcessMark;
pub use production::{ProductionProfile, is_used_folder, mark_external_use, mark_production_home};
pub use production_mark::is_production_home;
pub use program_tree::{ExtensionFile, ExtensionPlace};
pub use replacement::Replacement;
pub use role_password::{REPLICATION_LOGIN, read_replication_password};
pub use running::RunningCluster;
pub use session_memory::{CancelledSession, SessionMemory};
pub use supervise::KeeperRequest;
pub use template::Template;

use lock_holder::Endpoint;

pub use own_file::open_own_file;
pub use owner::Owner;
use postmaster::Postmaster;
use settings_file::{UntriedSettings, write_settings_file};
pub use sockets::{bind_http_socket, fits_beside};
use start_wait::{StartWaiter, StartWatch};
pub use vault_key::ensure_vault_key;

/// The cluster's superuser, made by `initdb`.
pub const SUPERUSER: &str = "supabase_admin";

/// The one database of a cluster.
pub const DATABASE: &str = "postgres";

/// A running PostgreSQL that ends when this value is dropped or stopped.
#[derive(Debug)]
pub struct Cluster {
    postmaster: Postmaster,
    config: ClusterConfig,
    owner: Owner,
    binaries: Binaries,
    socket_folder: SocketFolder,
    data_dir: PathBuf,
    port: u16,
    superuser_password: SecretString,
    is_new: bool,
    /// The text of the settings with which PostgreSQL has started last, and so starts again.
    proven_settings: String,
    /// The text in the data directory, where it has not started with that yet.
    reloaded_settings: Option<String>,
    /// The project's lock; dropping the cluster releases it.
    lock: ProjectLock,
}

impl Cluster {
    /// Starts the project's PostgreSQL and returns when it accepts connections. Creates its data directory first when
    /// there is none; ends a postmaster that an earlier server left behind.
    ///
    /// # Errors
    /// See [`ClusterError`]; the message of each variant is written for the person who started the server.
    pub async fn start(config: ClusterConfig) -> Result<Self, ClusterError> {
        let lock = ProjectLock::acquire(&config.state_dir, &config.purpose, &config.service_ports)?;
        Self::start_locked(config, lock).await
    }

    /// As [`Cluster::start`], for a command that holds the project's lock already.
    ///
    /// # Errors
    /// As [`Cluster::start`].
    pub async fn start_locked(config: ClusterConfig, lock: ProjectLock) -> Result<Self, ClusterError> {
        let started = Instant::now();
        let waiter = StartWaiter::default();
        let watch = waiter.watch();
        // Started on a separate thread, because file access, child processes and polling block.
        let cluster = tokio::task::spawn_blocking(move || Self::start_blocking(&config, lock, &watch))
            .await
            .map_err(|_| ClusterError::Interrupted)??;
        let cluster = cluster.with_working_password().await?;
        tracing::debug!(
            elapsed_ms = started.elapsed().as_millis(),
            version = cluster.binaries.major_version(),
            data_dir = %cluster.data_dir.display(),
            "PostgreSQL accepts connections"
        );
        Ok(cluster)
    }

    fn start_blocking(
        config: &ClusterConfig,
        lock: ProjectLock,
        watch: &StartWatch,
    ) -> Result<Self, ClusterError> {
        // Everything that can refuse the start comes before the first change of a file.
        let owner = Owner::for_project(&config.state_dir)?;
        replacement::finish_replacement(&config.state_dir)?;
        let home = owner.data_home(&config.state_dir)?;
        let data_dir = home.join("pgdata");
        if config.production.is_some() && data_dir.is_dir() {
            disk_reserve::make_room_for_start(&data_dir);
        }
        init::refuse_missing_data(&config.state_dir, &data_dir)?;
        let binaries = config
            .find_binaries_for(&data_dir)?
            .make_usable_by(&owner, &home)?;
        // Before any file of the data directory is read or written, no older postmaster may be using it.
        postmaster::end_leftover_postmaster(&data_dir)?;
        let socket_dir = sockets::socket_dir(&home, &owner, config.port)?;
        let initialized = init::ensure_data_dir(&binaries, &owner, &data_dir, config)?;
        ensure_vault_key(&home, &owner)?;
        let socket_folder = SocketFolder::remember(&socket_dir).map_err(ClusterError::file(&socket_dir))?;
        let proven_settings = config.settings_for(&binaries)?;
        let settings = UntriedSettings::write(&data_dir, &owner, &proven_settings)?;
        let postmaster = Postmaster::start(&binaries, &owner, &data_dir, &socket_dir, config, watch)?;
        settings.keep();
        let mut cluster = Self {
            postmaster,
            config: config.clone(),
            owner,
            binaries,
            socket_folder,
            data_dir,
            port: config.port,
            superuser_password: initialized.superuser_password,
            is_new: initialized.is_new,
            proven_settings,
            reloaded_settings: None,
            lock,
        };
        cluster.record_endpoint()?;
        Ok(cluster)
    }

    /// Tells other commands where PostgreSQL listens. Before it does, the lock names no port, because somebody else may have it.
    fn record_endpoint(&mut self) -> Result<(), ClusterError> {
        let endpoint = Endpoint {
            socket_dir: self.socket_folder.path().to_owned(),
            port: self.port,
        };
        let tcp_port = if self.config.listen_tcp { self.port } else { 0 };
        self.lock.record_endpoint(endpoint, tcp_port)
    }

    /// Sets the superuser's password anew if the server refuses the kept one: the file in the state folder may be of another
    /// database, after data were brought back or swapped by hand.
    async fn with_working_password(mut self) -> Result<Self, ClusterError> {
        let is_refused = |error: &tokio_postgres::Error| {
            error.code() == Some(&tokio_postgres::error::SqlState::INVALID_PASSWORD)
        };
        match self.superuser_login().connect().await {
            Err(error) if is_refused(&error) => {}
            // Whoever connects next reports another error in its context.
            _ => return Ok(self),
        }
        let waiter = StartWaiter::default();
        let watch = waiter.watch();
        tokio::task::spawn_blocking(move || {
            self.postmaster.stop()?;
            let secret = self.config.state_dir.join("superuser-password");
            init::replace_password(
                &self.binaries,
                &self.owner,
                &self.data_dir,
                &secret,
                &self.superuser_password,
            )?;
            self.postmaster = Postmaster::start(
                &self.binaries,
                &self.owner,
                &self.data_dir,
                self.socket_folder.path(),
                &self.config,
                &watch,
            )?;
            Ok(self)
        })
        .await
        .map_err(|_| ClusterError::Interrupted)?
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

    /// How to log in.
    #[must_use]
    pub fn access(&self) -> ClusterAccess {
        ClusterAccess {
            socket_dir: self.socket_folder.path().to_owned(),
            port: self.port,
            superuser_password: self.superuser_password.clone(),
            is_production: self.config.production.is_some(),
        }
    }

    /// How to log in as the superuser: for the platform schema, backups, imports and copies of databases only.
    #[must_use]
    pub fn superuser_login(&self) -> PrivilegedLogin {
        self.access().superuser_login()
    }

    /// What watches the disk of this cluster; `None` in development.
    #[must_use]
    pub fn disk_guard(&self) -> Option<DiskGuard> {
        self.config.production?;
        Some(DiskGuard::new(&self.data_dir, self.owner, self.access()))
    }

    /// Binds the socket by which the extension http sends its requests to this process. It is in a folder that only the
    /// cluster's user can enter, so that only sessions of the cluster can connect.
    ///
    /// # Errors
    /// [`ClusterError::File`] when the folder or the socket cannot be created.
    pub fn bind_http_socket(&self) -> Result<UnixListener, ClusterError> {
        sockets::bind_http_socket(self.socket_folder.path(), &self.owner)
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

    /// Ends PostgreSQL in order, and starts it with other settings. Where it does not start with them, it runs with the earlier ones
    /// again, which the data directory has then as well.
    ///
    /// # Errors
    /// As [`Cluster::start`].
    pub(crate) async fn restart_with(&mut self, config: ClusterConfig) -> Result<(), ClusterError> {
        let text = config.settings_for(&self.binaries)?;
        write_settings_file(&self.data_dir, &self.owner, &text)?;
        // Until PostgreSQL has started with them, whatever happens before that.
        self.reloaded_settings = Some(text.clone());
        // What one process may take is computed from them.
        let earlier_limit = std::mem::replace(&mut self.config.process_memory, config.process_memory);
        let pid = self.postmaster.pid();
        let ended = tokio::task::spawn_blocking(move || postmaster::end_process(pid));
        ended.await.map_err(|_| ClusterError::Interrupted)??;
        self.restart_or_go_back(text, earlier_limit).await
    }

    /// Writes other settings and lets PostgreSQL read them. What takes effect at a restart only waits for one.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn reload_with(&mut self, config: &ClusterConfig) -> Result<(), ClusterError> {
        let text = config.settings_for(&self.binaries)?;
        write_settings_file(&self.data_dir, &self.owner, &text)?;
        self.reloaded_settings = Some(text);
        self.postmaster.reload();
        Ok(())
    }

    /// Starts PostgreSQL again after it has ended. Returns when it accepts connections. Settings that it has read meanwhile, and does not start
    /// with, are taken back.
    ///
    /// # Errors
    /// As [`Cluster::start`].
    pub(crate) async fn restart(&mut self) -> Result<(), ClusterError> {
        let text = self.reloaded_settings.as_ref().unwrap_or(&self.proven_settings);
        let text = text.clone();
        self.restart_or_go_back(text, self.config.process_memory).await
    }

    /// Starts PostgreSQL with the settings that are written, else with those with which it has run before.
    async fn restart_or_go_back(
        &mut self,
        text: String,
        earlier_limit: Option<u64>,
    ) -> Result<(), ClusterError> {
        match self.start_again().await {
            Ok(()) => {
                self.proven_settings = text;
                self.reloaded_settings = None;
                Ok(())
            }
            Err(error @ ClusterError::Start { .. }) if text != self.proven_settings => {
                tracing::error!(
                    %error,
                    "PostgreSQL does not start with its changed settings, and runs with the earlier ones"
                );
                write_settings_file(&self.data_dir, &self.owner, &self.proven_settings)?;
                self.reloaded_settings = None;
                self.config.process_memory = earlier_limit;
                self.start_again().await
            }
            Err(error) => Err(error),
        }
    }

    async fn start_again(&mut self) -> Result<(), ClusterError> {
        let (config, owner, binaries) = (self.config.clone(), self.owner, self.binaries.clone());
        let (data_dir, socket_dir) = (self.data_dir.clone(), self.socket_folder.path().to_owned());
        // Otherwise this would end the PostgreSQL of whoever is there now, and run its data.
        check_socket_folder(&socket_dir).map_err(ClusterError::file(&socket_dir))?;
        let waiter = StartWaiter::default();
        let watch = waiter.watch();
        let start = move || {
            postmaster::end_leftover_postmaster(&data_dir)?;
            if config.production.is_some() {
                disk_reserve::make_room_for_start(&data_dir);
            }
            Postmaster::start(&binaries, &owner, &data_dir, &socket_dir, &config, &watch)
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

    /// The process that holds this project's lock, or `None` when it is free. It is for messages and signals:
    /// [`RunningCluster::find`] gives logins.
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
        Owner::for_project(state_dir)?.data_home(state_dir)
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
    pub fn delete_whole(state_dir: &Path, purpose: &LockPurpose) -> Result<(), ClusterError> {
        let lock = ProjectLock::acquire(state_dir, purpose, &[])?;
        // Also stops a PostgreSQL that a killed process has left running.
        Self::delete_data(&lock)?;
        let home = Self::data_home(state_dir)?;
        sockets::remove_far_socket_dir(&home);
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

    /// Deletes the project's data, for `reset`, and what says that there are some. The caller holds the project's lock, so that
    /// nobody starts the project meanwhile.
    ///
    /// # Errors
    /// When the data belong to another user or cannot be deleted.
    pub fn delete_data(lock: &ProjectLock) -> Result<(), ClusterError> {
        let state_dir = lock.state_dir();
        replacement::finish_replacement(state_dir)?;
        let owner = Owner::for_project(state_dir)?;
        data_home::forget_missing(state_dir).map_err(ClusterError::file(state_dir))?;
        let data_dir = owner.data_home(state_dir)?.join("pgdata");
        postmaster::end_leftover_postmaster(&data_dir)?;
        init::delete_data_dir(state_dir, &data_dir)
    }

    /// Ends a PostgreSQL that a killed process of this project has left running. Returns whether there was one.
    ///
    /// # Errors
    /// When the project runs, or the process does not end.
    pub fn end_leftover(state_dir: &Path, purpose: &LockPurpose) -> Result<bool, ClusterError> {
        if !state_dir.is_dir() {
            return Ok(false);
        }
        let _lock = ProjectLock::acquire(state_dir, purpose, &[])?;
        match Owner::for_project(state_dir)?.data_home(state_dir) {
            Ok(home) => postmaster::end_leftover_postmaster(&home.join("pgdata")),
            // Nothing runs on data that are gone.
            Err(ClusterError::DataMissing { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
