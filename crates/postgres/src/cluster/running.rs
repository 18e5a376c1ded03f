//! Reaches the PostgreSQL of a project that another process runs. This is the only place where a lock becomes a login.
//!
//! An address is no identity: whoever listens on a port, or on a socket in a folder that was copied, may be the server of
//! another project. The cluster is therefore reached over its own unix socket, and what the server says of itself is compared
//! with the files of the project's data directory before any statement of a command is sent.

use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

use super::access::ClusterAccess;
use super::error::ClusterError;
use super::lock::ProjectLock;
use super::lock_holder::LockHolder;
use super::own_file::read_own_text;
use super::owner::Owner;
use super::production_mark::is_production_home;
use super::{Cluster, DATABASE, sockets};
use crate::PrivilegedLogin;
use crate::hosts::SocketFolder;

/// What a server says of itself: its system identifier, and the file by which its postmaster marks the data directory, with the second in which
/// that file's inode was changed last.
const DESCRIBE: &str = "
    select system_identifier::pg_catalog.text, pg_catalog.pg_read_file('postmaster.pid'),
      extract(epoch from (pg_catalog.pg_stat_file('postmaster.pid')).change)::pg_catalog.int8
    from pg_catalog.pg_control_system()";

/// The PostgreSQL of a running instance, which was proven to be the one of the project's data directory.
#[derive(Debug, Clone)]
pub struct RunningCluster {
    holder: LockHolder,
    access: ClusterAccess,
}

impl RunningCluster {
    /// Finds the instance that serves the project, and compares it with the project's data directory. `None` when the
    /// project does not run.
    ///
    /// # Errors
    /// [`ClusterError::AlreadyRunning`] while a command other than a server holds the project's lock, or a server is just
    /// starting; [`ClusterError::OtherServer`] when another server answers.
    pub async fn find(state_dir: &Path) -> Result<Option<Self>, ClusterError> {
        let Some(holder) = ProjectLock::find_holder(state_dir)? else {
            return Ok(None);
        };
        let Some(endpoint) = holder.endpoint.clone().filter(|_| holder.is_server()) else {
            return Err(ClusterError::AlreadyRunning(Box::new(holder)));
        };
        let path = state_dir.join("superuser-password");
        let password = read_own_text(&path).map_err(ClusterError::file(&path))?;
        let running = Self {
            holder,
            access: ClusterAccess {
                socket_dir: endpoint.socket_dir,
                port: endpoint.port,
                superuser_password: SecretString::from(password.trim().to_owned()),
                is_production: is_production_home(state_dir),
            },
        };
        running
            .compare(&Cluster::data_home(state_dir)?.join("pgdata"))
            .await?;
        Ok(Some(running))
    }

    /// The process that runs the project.
    #[must_use]
    pub fn holder(&self) -> &LockHolder {
        &self.holder
    }

    /// How to log in.
    #[must_use]
    pub fn access(&self) -> &ClusterAccess {
        &self.access
    }

    /// How to log in as the superuser.
    #[must_use]
    pub fn superuser_login(&self) -> PrivilegedLogin {
        self.access.superuser_login()
    }

    /// Notes which folder the cluster's socket is in, so that no connection of this process reaches the cluster of a copy that
    /// somebody puts in its place; for a process that goes on using the cluster.
    ///
    /// # Errors
    /// When the folder cannot be examined.
    pub fn remember_socket_folder(&self) -> Result<SocketFolder, ClusterError> {
        let folder = self.access.socket_dir();
        SocketFolder::remember(folder).map_err(ClusterError::file(folder))
    }

    /// As [`Cluster::bind_http_socket`], for a process that serves on a cluster which another process keeps.
    ///
    /// # Errors
    /// When the folder or the socket cannot be created.
    pub fn bind_http_socket(&self) -> Result<UnixListener, ClusterError> {
        let owner = Owner::for_project(&self.holder.state_dir)?;
        sockets::bind_http_socket(self.access.socket_dir(), &owner)
    }

    /// As [`Self::bind_http_socket`], for a process that takes over from another one, which answers on the socket until then.
    ///
    /// # Errors
    /// When the folder or the socket cannot be created.
    pub fn replace_http_socket(&self) -> Result<UnixListener, ClusterError> {
        let owner = Owner::for_project(&self.holder.state_dir)?;
        sockets::replace_http_socket(self.access.socket_dir(), &owner)
    }

    /// A connection string for programs that need TCP: `postgresql://role:password@127.0.0.1:port/postgres`. The port is the one
    /// that this PostgreSQL, which was just compared, has told. `None` when it listens on none.
    #[must_use]
    pub fn url_for(&self, role: &str, password: &str) -> Option<String> {
        let port = self.holder.database_port;
        (port != 0).then(|| format!("postgresql://{role}:{password}@127.0.0.1:{port}/{DATABASE}"))
    }

    async fn compare(&self, data_dir: &Path) -> Result<(), ClusterError> {
        let client = self
            .superuser_login()
            .connect()
            .await
            .map_err(ClusterError::Login)?;
        let row = client
            .query_one(DESCRIBE, &[])
            .await
            .map_err(ClusterError::Login)?;
        let (identifier, postmaster, changed_at): (String, String, i64) =
            (row.get(0), row.get(1), row.get(2));
        let differs = |reason: &str| ClusterError::OtherServer {
            socket_dir: self.access.socket_dir.clone(),
            data_dir: data_dir.to_owned(),
            reason: reason.to_owned(),
        };
        if identifier != read_system_identifier(data_dir)?.to_string() {
            return Err(differs("its system identifier is another one"));
        }
        // A copy of the data has the same identifier, and another postmaster, or none: then its file is a copy as well, whose content is that of the
        // original, and whose inode is younger. Nobody can set that time.
        let path = data_dir.join("postmaster.pid");
        let own = std::fs::read_to_string(&path).map_err(ClusterError::file(&path))?;
        let meta = path.metadata().map_err(ClusterError::file(&path))?;
        // The last line is the state, which changes when the server is being stopped.
        let identity = |text: &str| text.lines().take(7).map(str::trim).collect::<Vec<_>>().join("\n");
        if identity(&own) != identity(&postmaster) || meta.ctime() != changed_at {
            return Err(differs("it is another process"));
        }
        Ok(())
    }
}

/// The system identifier of a data directory: the first eight bytes of `pg_control`, in the machine's order of bytes.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn read_system_identifier(data_dir: &Path) -> Result<u64, ClusterError> {
    let path: PathBuf = data_dir.join("global/pg_control");
    let read = std::fs::File::open(&path).and_then(|mut file| {
        let mut bytes = [0; 8];
        std::io::Read::read_exact(&mut file, &mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    });
    read.map_err(ClusterError::file(&path))
}
