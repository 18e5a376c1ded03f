//! What all workers of the server share: the Deno program, the bootstrap script and the folder of their sockets.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};
use tempfile::TempDir;
use tokio::runtime::Handle;

use super::graph::CheckedGraphs;
use crate::config::FunctionsConfig;
use crate::deno::{DenoError, find_deno};

/// The folder of a server's sockets is named by this prefix.
const FOLDER_PREFIX: &str = "selvedge-fn-";
/// The file in that folder that its server has locked.
const LOCK: &str = "lock";
/// How old a folder without a lock must be: a server that is just starting makes the folder first.
const UNLOCKED_AGE: Duration = Duration::from_secs(60);
const BOOTSTRAP: &str = include_str!("bootstrap.js");

/// Starts the worker processes of functions.
#[derive(Debug)]
pub(crate) struct Launcher {
    pub(crate) config: Arc<FunctionsConfig>,
    /// The runtime on which supervisors run.
    pub(super) runtime: Handle,
    /// Below the system's folder for temporary files and not in the project, because the path of a socket may have 100
    /// bytes only. Made with the first worker.
    sockets: Arc<OnceLock<SocketFolder>>,
    deno: OnceLock<PathBuf>,
    next_id: Arc<AtomicU64>,
    /// Functions whose modules were checked.
    pub(super) graphs: CheckedGraphs,
}

/// The folder of a server's sockets. Its lock says that the server runs, also to servers in other containers and on systems
/// without `/proc`.
#[derive(Debug)]
struct SocketFolder {
    folder: TempDir,
    _lock: Flock<File>,
}

impl SocketFolder {
    fn make(system: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix(FOLDER_PREFIX)
            .tempdir_in(system)?;
        let file = File::create_new(folder.path().join(LOCK))?;
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| error)?;
        Ok(Self { folder, _lock: lock })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Launcher {
    /// Call it within the runtime on which supervisors shall run.
    pub(crate) fn new(config: Arc<FunctionsConfig>) -> Self {
        Self {
            config,
            runtime: Handle::current(),
            sockets: Arc::default(),
            deno: OnceLock::new(),
            next_id: Arc::new(AtomicU64::new(1)),
            graphs: CheckedGraphs::default(),
        }
    }

    /// A launcher with other settings for the same server: ids of workers stay unique, and their folders stay together.
    pub(crate) fn with_config(&self, config: FunctionsConfig) -> Self {
        Self {
            config: Arc::new(config),
            runtime: self.runtime.clone(),
            sockets: Arc::clone(&self.sockets),
            deno: OnceLock::new(),
            next_id: Arc::clone(&self.next_id),
            graphs: CheckedGraphs::default(),
        }
    }

    pub(super) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// The folder of a worker's socket and temporary files, which only this user can enter. It need not exist yet.
    pub(super) fn worker_folder(&self, id: u64) -> io::Result<PathBuf> {
        let sockets = match self.sockets.get() {
            Some(sockets) => sockets,
            None => {
                let system = temporary_folder();
                remove_folders_of_ended_servers(&system);
                let made = SocketFolder::make(&system)?;
                // Another thread may have been faster; then its folder is used and this one is removed.
                self.sockets.get_or_init(|| made)
            }
        };
        Ok(sockets.path().join(id.to_string()))
    }

    /// Removes the folder of sockets and temporary files, once no worker needs it.
    pub(crate) fn remove_folders(&self) {
        if let Some(sockets) = self.sockets.get() {
            let _ = fs::remove_dir_all(sockets.path());
        }
    }

    /// The Deno program. A failed search is repeated by the next worker, so that Deno can be installed meanwhile.
    pub(super) fn find_deno(&self) -> Result<PathBuf, DenoError> {
        if let Some(found) = self.deno.get() {
            return Ok(found.clone());
        }
        let found = find_deno(&self.config.deno)?;
        let program = make_executable(&found, &self.config.state_folder).map_err(|error| {
            DenoError::Missing(format!("Deno at {} cannot be run: {error}", found.display()))
        })?;
        tracing::debug!(deno = %program.display(), "found");
        Ok(self.deno.get_or_init(|| program).clone())
    }

    /// Writes the bootstrap script if it is missing. Its name contains the version, so that each server version uses its
    /// own.
    pub(super) fn write_bootstrap(&self) -> io::Result<PathBuf> {
        let name = concat!("bootstrap-", env!("CARGO_PKG_VERSION"), ".js");
        let path = self.config.state_folder.join(name);
        write_changed(&path, BOOTSTRAP.as_bytes())?;
        Ok(path)
    }
}

/// Removes what servers have left behind that were killed. Folders of other users cannot be removed, and stay.
fn remove_folders_of_ended_servers(system: &Path) {
    for entry in fs::read_dir(system).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(FOLDER_PREFIX);
        // Not through a link, which somebody else could have put there.
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) && has_ended(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether no server holds the lock of a folder. A folder without a lock is of a version before December 2026, or just being made.
fn has_ended(folder: &Path) -> bool {
    match File::open(folder.join(LOCK)) {
        Ok(file) => Flock::lock(file, FlockArg::LockExclusiveNonblock).is_ok(),
        Err(_) => {
            let modified = folder.metadata().and_then(|meta| meta.modified());
            let age = modified.ok().and_then(|time| time.elapsed().ok());
            age.is_some_and(|age| age > UNLOCKED_AGE) && !is_of_running_process(folder)
        }
    }
}

/// Whether the number in a folder's name, by which older versions named them, is of a process that runs.
fn is_of_running_process(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let pid = name
        .strip_prefix(FOLDER_PREFIX)
        .and_then(|name| name.split('-').next());
    pid.and_then(|pid| pid.parse::<u32>().ok())
        .is_some_and(|pid| Path::new("/proc").join(pid.to_string()).exists())
}

/// Makes a folder that only this user can enter.
pub(super) fn make_private_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file so that another process sees either the old or the new content.
pub(super) fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    io::Write::write_all(&mut file, content)?;
    file.persist(path)?;
    Ok(())
}

/// Does the same, unless the file has this content. The kernel's rules for a worker that is starting name the file itself and not its path,
/// so it could not read one that another worker of its function had put in its place.
pub(super) fn write_changed(path: &Path, content: &[u8]) -> io::Result<()> {
    static WRITING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    match fs::read(path) {
        Ok(kept) if kept == content => Ok(()),
        _ => write_whole(path, content),
    }
}

/// The program itself, or a copy that may be executed: npm leaves the file without that right when install scripts are
/// switched off.
fn make_executable(program: &Path, state_folder: &Path) -> io::Result<PathBuf> {
    let metadata = fs::metadata(program)?;
    if metadata.permissions().mode() & 0o111 != 0 {
        return Ok(program.to_path_buf());
    }
    let copy = state_folder.join("deno");
    if !fs::metadata(&copy).is_ok_and(|existing| existing.len() == metadata.len()) {
        fs::create_dir_all(state_folder)?;
        let unfinished = state_folder.join("deno.part");
        fs::copy(program, &unfinished)?;
        fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o755))?;
        fs::rename(&unfinished, &copy)?;
    }
    Ok(copy)
}

/// Where the folders of workers are made: the system's folder of temporary files. Deno lets a program that may not do everything
/// open nothing below `/dev`, `/proc` and `/sys`, and on some machines TMPDIR names `/dev/shm`.
fn temporary_folder() -> PathBuf {
    let system = std::env::temp_dir();
    let is_closed = ["/dev", "/proc", "/sys"]
        .iter()
        .any(|top| system.starts_with(top));
    if is_closed { PathBuf::from("/tmp") } else { system }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_servers_that_have_ended_are_removed() {
        let system = tempfile::tempdir().unwrap();
        let running = SocketFolder::make(system.path()).unwrap();
        let ended = system.path().join("selvedge-fn-ended");
        let young = system.path().join("selvedge-fn-young");
        let other = system.path().join("another-program");
        for folder in [&ended, &young, &other] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(ended.join(LOCK), "").unwrap();
        std::os::unix::fs::symlink(&other, system.path().join("selvedge-fn-link")).unwrap();

        remove_folders_of_ended_servers(system.path());

        assert!(running.path().exists() && young.exists() && other.exists());
        assert!(!ended.exists());
    }

    #[test]
    fn gw_044_a_program_without_the_right_to_be_executed_is_copied() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("deno");
        let state = folder.path().join("state");
        fs::write(&program, "#!/bin/sh\n").unwrap();

        let copy = make_executable(&program, &state).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let itself = make_executable(&program, &state).unwrap();

        assert_eq!((copy.as_path(), itself), (state.join("deno").as_path(), program));
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o111, 0o111);
    }
}
