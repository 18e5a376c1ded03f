//! Allows one server per project: an advisory lock (`flock`) on `.selvedge/lock`, which the kernel releases however the
//! process ends. The file's content describes the holder, so that a second start can report it.

use std::{
    fs::{File, OpenOptions},
    io::{ErrorKind, Read, Seek, Write},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use nix::fcntl::{Flock, FlockArg};

use super::error::ClusterError;
use super::heartbeat::{self, Heartbeat};
use super::lock_holder::{Endpoint, LockHolder, LockPurpose};
use super::own_file::open_own_file;
use super::process_mark::ProcessMark;

mod handover;

pub use handover::InheritedLock;

/// How long to retry when the lock is held, see [`lock_patiently`].
const PROBE_PATIENCE: Duration = Duration::from_millis(500);

/// The lock of a cluster.
const CLUSTER: &str = "lock";
/// The lock of the server in production, which may end and begin while its cluster runs.
const SERVER: &str = "server.lock";

/// The held lock; dropping it releases it.
#[derive(Debug)]
pub struct ProjectLock {
    file: Flock<File>,
    path: PathBuf,
    holder: LockHolder,
    /// Says that the holder lives where its process cannot be seen.
    _heartbeat: Heartbeat,
}

impl ProjectLock {
    /// Takes the project's lock and creates its state folder when missing.
    ///
    /// # Errors
    /// [`ClusterError::AlreadyRunning`] with the holder, when another process has it.
    pub fn acquire(
        state_dir: &Path,
        purpose: &LockPurpose,
        service_ports: &[u16],
    ) -> Result<Self, ClusterError> {
        Self::acquire_file(CLUSTER, state_dir, purpose, service_ports)
    }

    /// Takes the lock of the server that uses a cluster which another process keeps.
    ///
    /// # Errors
    /// [`ClusterError::AlreadyRunning`] with the holder, when another process has it.
    pub fn acquire_for_server(
        state_dir: &Path,
        purpose: &LockPurpose,
        service_ports: &[u16],
    ) -> Result<Self, ClusterError> {
        Self::acquire_file(SERVER, state_dir, purpose, service_ports)
    }

    fn acquire_file(
        name: &str,
        state_dir: &Path,
        purpose: &LockPurpose,
        service_ports: &[u16],
    ) -> Result<Self, ClusterError> {
        create_state_dir(state_dir)?;
        let path = state_dir.join(name);
        let mut file = match lock_patiently(open_lock_file(&path)?) {
            Ok(file) => file,
            Err(mut file) => {
                let holder = read_present_holder(&mut file, state_dir);
                return Err(ClusterError::AlreadyRunning(Box::new(holder)));
            }
        };
        refuse_living_holder(&mut file, state_dir)?;
        Self::describe(file, path, state_dir, purpose, service_ports)
    }

    /// Writes into a lock's file, which this process has locked, who holds it.
    fn describe(
        file: Flock<File>,
        path: PathBuf,
        state_dir: &Path,
        purpose: &LockPurpose,
        service_ports: &[u16],
    ) -> Result<Self, ClusterError> {
        let meta = file.metadata().map_err(ClusterError::file(&path))?;
        let holder = LockHolder {
            pid: std::process::id(),
            process: ProcessMark::of_this_process(),
            purpose: purpose.clone(),
            started_at: SystemTime::now(),
            database_port: 0,
            service_ports: service_ports.to_vec(),
            state_dir: state_dir.to_owned(),
            lock_inode: meta.ino(),
            lock_device: meta.dev(),
            endpoint: None,
        };
        let heartbeat = Heartbeat::start(&path).map_err(ClusterError::file(&path))?;
        let mut lock = Self {
            file,
            path,
            holder,
            _heartbeat: heartbeat,
        };
        // Written only after the lock is held; a process that failed to get it must not overwrite the holder's
        // description.
        lock.write_holder()?;
        Ok(lock)
    }

    /// The project's state folder.
    pub(crate) fn state_dir(&self) -> &Path {
        &self.holder.state_dir
    }

    /// Says where the holder's PostgreSQL accepts connections, once it does; `tcp_port` is 0 without one.
    pub(crate) fn record_endpoint(&mut self, endpoint: Endpoint, tcp_port: u16) -> Result<(), ClusterError> {
        self.holder.endpoint = Some(endpoint);
        self.holder.database_port = tcp_port;
        self.write_holder()
    }

    fn write_holder(&mut self) -> Result<(), ClusterError> {
        let mut text = serde_json::to_string(&self.holder).expect("numbers and strings become JSON");
        let written = self.file.metadata().and_then(|before| {
            // Overwritten in one call and with spaces over the rest, so that a process that reads meanwhile finds a whole one.
            while (text.len() as u64) < before.len() {
                text.push(' ');
            }
            self.file.rewind()?;
            self.file.write_all(text.as_bytes())?;
            self.file.set_len(text.len() as u64)
        });
        written.map_err(ClusterError::file(&self.path))
    }

    /// The process that holds the project's lock, or `None` when it is free.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn find_holder(state_dir: &Path) -> Result<Option<LockHolder>, ClusterError> {
        Self::find_holder_of_file(CLUSTER, state_dir)
    }

    /// The server that uses a cluster which another process keeps, or `None` when there is none.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn find_server(state_dir: &Path) -> Result<Option<LockHolder>, ClusterError> {
        Self::find_holder_of_file(SERVER, state_dir)
    }

    fn find_holder_of_file(name: &str, state_dir: &Path) -> Result<Option<LockHolder>, ClusterError> {
        let path = state_dir.join(name);
        if !path.exists() {
            return Ok(None);
        }
        // A shared lock, so that two processes that probe at the same time do not take each other for the holder.
        match Flock::lock(open_lock_file(&path)?, FlockArg::LockSharedNonblock) {
            Ok(mut file) => Ok(find_living_holder(&mut file, state_dir)),
            Err((mut file, _)) => Ok(Some(read_present_holder(&mut file, state_dir))),
        }
    }
}

impl Drop for ProjectLock {
    fn drop(&mut self) {
        // The description of a process that goes on must not look like that of a holder. The lock itself ends with the file.
        let _ = self.file.set_len(0);
    }
}

/// Refuses a project whose file names a process that still exists: some file systems accept `flock` and do not lock, and
/// two servers would then work on one data directory.
fn refuse_living_holder(file: &mut File, state_dir: &Path) -> Result<(), ClusterError> {
    match find_living_holder(file, state_dir) {
        Some(holder) => Err(ClusterError::AlreadyRunning(Box::new(holder))),
        None => refuse_holder_of_other_namespace(file, state_dir),
    }
}

/// Refuses a project that a process of another container holds, which shares the folder over a file system that does not lock: whether that
/// process lives is seen by its heartbeat alone. After a crash this waits until none came.
fn refuse_holder_of_other_namespace(file: &mut File, state_dir: &Path) -> Result<(), ClusterError> {
    let holder = read_lock_holder(file, state_dir);
    let is_elsewhere = holder.pid != 0 && holder.process.is_of_other_namespace();
    if !is_elsewhere || !heartbeat::is_recent(file) {
        return Ok(());
    }
    match heartbeat::comes_again(file) {
        true => Err(ClusterError::AlreadyRunning(Box::new(holder))),
        false => Ok(()),
    }
}

/// The process that the file names, if it is another one than this and still exists.
fn find_living_holder(file: &mut File, state_dir: &Path) -> Option<LockHolder> {
    let holder = read_lock_holder(file, state_dir);
    let is_other = holder.pid != 0 && holder.pid != std::process::id();
    // A file that was copied or moved with its project describes the holder of the original.
    let is_here = is_same_folder(&holder.state_dir, state_dir) && holder.process.is_alive(holder.pid);
    (is_other && is_here).then_some(holder)
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Takes the lock, retrying for [`PROBE_PATIENCE`]; returns the file when it stays locked. A process that only probes the lock holds
/// it for a moment, and must not be taken for a running project.
fn lock_patiently(mut file: File) -> Result<Flock<File>, File> {
    let deadline = Instant::now() + PROBE_PATIENCE;
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(locked) => return Ok(locked),
            Err((unlocked, _)) if Instant::now() > deadline => return Err(unlocked),
            Err((unlocked, _)) => file = unlocked,
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn create_state_dir(state_dir: &Path) -> Result<(), ClusterError> {
    std::fs::create_dir_all(state_dir).map_err(ClusterError::file(state_dir))?;
    // The folder holds passwords and data, which must not be committed even if the project's own .gitignore lacks it.
    let ignore = state_dir.join(".gitignore");
    let created = OpenOptions::new().write(true).create_new(true).open(&ignore);
    match created.and_then(|mut file| file.write_all(b"*\n")) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(ClusterError::file(&ignore)(error)),
        _ => Ok(()),
    }
}

fn open_lock_file(path: &Path) -> Result<File, ClusterError> {
    open_own_file(path, true).map_err(ClusterError::file(path))
}

/// The process that has locked the file. As long as it has not described itself, the file may have the description of another one, which leads to
/// another project's PostgreSQL: in a copy of a project that runs, that of the original.
fn read_present_holder(file: &mut File, state_dir: &Path) -> LockHolder {
    let holder = read_lock_holder(file, state_dir);
    let is_of_folder = is_same_folder(&holder.state_dir, state_dir);
    let is_of_file = match holder.lock_inode {
        0 => is_of_folder,
        // In another container the device of one file may have another number.
        inode => file
            .metadata()
            .is_ok_and(|meta| meta.ino() == inode && (meta.dev() == holder.lock_device || is_of_folder)),
    };
    match is_of_file {
        true => holder,
        false => unknown_holder(state_dir),
    }
}

/// A process that has taken the lock and not yet written its description.
fn unknown_holder(state_dir: &Path) -> LockHolder {
    LockHolder {
        pid: 0,
        process: ProcessMark::default(),
        purpose: LockPurpose::default(),
        started_at: SystemTime::now(),
        database_port: 0,
        service_ports: Vec::new(),
        state_dir: state_dir.to_owned(),
        lock_inode: 0,
        lock_device: 0,
        endpoint: None,
    }
}

fn read_lock_holder(file: &mut File, state_dir: &Path) -> LockHolder {
    let mut text = String::new();
    let read = file
        .rewind()
        .and_then(|()| file.read_to_string(&mut text))
        .ok()
        .and_then(|_| serde_json::from_str(&text).ok());
    read.unwrap_or_else(|| unknown_holder(state_dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> LockPurpose {
        LockPurpose::server("start")
    }

    #[test]
    fn acquire_succeeds_while_others_probe_the_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join(".selvedge");
        drop(ProjectLock::acquire(&state, &start(), &[]).expect("free"));
        let probe = open_lock_file(&state.join("lock")).expect("opened");
        let probe = Flock::lock(probe, FlockArg::LockExclusiveNonblock).expect("free");

        let acquired = std::thread::scope(|scope| {
            let acquiring = scope.spawn(|| ProjectLock::acquire(&state, &start(), &[]));
            std::thread::sleep(Duration::from_millis(20));
            drop(probe);
            acquiring.join().expect("no panic")
        });

        assert!(acquired.is_ok());
    }

    #[test]
    fn acquire_reports_the_process_that_holds_the_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join(".selvedge");
        assert_eq!(ProjectLock::find_holder(&state).expect("readable"), None);

        let mut first = ProjectLock::acquire(&state, &start(), &[54_321]).expect("free");
        let starting = ProjectLock::find_holder(&state).expect("readable").expect("held");
        let endpoint = Endpoint {
            socket_dir: state.join("run"),
            port: 54_322,
        };
        first.record_endpoint(endpoint, 54_322).expect("written");
        let error = ProjectLock::acquire(&state, &start(), &[])
            .expect_err("taken")
            .to_string();
        let holder = ProjectLock::find_holder(&state).expect("readable").expect("held");
        drop(first);

        assert_eq!((starting.database_port, starting.endpoint), (0, None));
        assert!(
            error.contains(&format!("process {}", std::process::id())),
            "{error}"
        );
        assert!(error.contains("on ports 54321, 54322"), "{error}");
        assert_eq!(holder.pid, std::process::id());
        assert_eq!(ProjectLock::find_holder(&state).expect("readable"), None);
        ProjectLock::acquire(&state, &start(), &[]).expect("free again");
    }

    #[test]
    fn gw_109_a_command_that_holds_the_lock_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join(".selvedge");

        let _backup = ProjectLock::acquire(&state, &LockPurpose::command("backup"), &[]).expect("free");
        let error = ProjectLock::acquire(&state, &start(), &[])
            .expect_err("taken")
            .to_string();

        assert!(error.starts_with("busy: backup runs: process "), "{error}");
    }

    /// In a container it takes seconds until whoever has locked a copy describes itself.
    #[test]
    fn gw_031_a_copied_lock_describes_nobody_who_has_locked_the_copy() {
        let folder = tempfile::tempdir().expect("a folder");
        let (state, copy) = (
            folder.path().join("a/.selvedge"),
            folder.path().join("b/.selvedge"),
        );
        let mut original = ProjectLock::acquire(&state, &start(), &[]).expect("free");
        let endpoint = Endpoint {
            socket_dir: state.join("run"),
            port: 54_322,
        };
        original.record_endpoint(endpoint, 54_322).expect("written");
        std::fs::create_dir_all(&copy).expect("created");
        std::fs::copy(state.join("lock"), copy.join("lock")).expect("copied");
        let find = || {
            let file = open_lock_file(&copy.join("lock")).expect("opened");
            let _locked = Flock::lock(file, FlockArg::LockExclusiveNonblock).expect("free");
            let found = ProjectLock::find_holder(&copy).expect("readable").expect("held");
            let refused = ProjectLock::acquire(&copy, &start(), &[]).expect_err("taken");
            (found.pid, found.endpoint, refused.to_string())
        };

        let of_this_version = find();
        let mut older = original.holder.clone();
        older.lock_inode = 0;
        std::fs::write(copy.join("lock"), serde_json::to_string(&older).expect("JSON")).expect("written");
        let of_an_older_one = find();

        let mut snapshot = original.holder.clone();
        snapshot.lock_inode = std::fs::metadata(copy.join("lock")).expect("a file").ino();
        snapshot.lock_device += 1;
        std::fs::write(copy.join("lock"), serde_json::to_string(&snapshot).expect("JSON")).expect("written");
        let of_a_snapshot = find();

        for (pid, endpoint, refused) in [of_this_version, of_an_older_one, of_a_snapshot] {
            assert_eq!((pid, endpoint), (0, None));
            assert!(refused.contains("another command has just begun"), "{refused}");
        }
        let found = ProjectLock::find_holder(&state).expect("readable").expect("held");
        assert_eq!(found, original.holder);
    }

    /// Some file systems accept `flock` without locking. The file's own content then tells of the holder.
    #[cfg(target_os = "linux")]
    #[test]
    fn gw_109_a_living_holder_counts_where_flock_does_not_work() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join(".selvedge");
        let mut lock = ProjectLock::acquire(&state, &start(), &[]).expect("free");
        let mut other = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("sleep");
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", other.id())).expect("it runs");
        lock.holder.pid = other.id();
        lock.holder.process.start_ticks = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(19)?.parse().ok());
        lock.write_holder().expect("written");
        // As if the kernel had not kept the lock.
        let unlocked = std::fs::read(state.join("lock")).expect("readable");
        drop(lock);
        std::fs::write(state.join("lock"), unlocked).expect("written");

        let refused = ProjectLock::acquire(&state, &start(), &[]);
        let found = ProjectLock::find_holder(&state).expect("readable");
        other.kill().and_then(|()| other.wait()).expect("ended");

        assert!(matches!(refused, Err(ClusterError::AlreadyRunning(_))));
        assert_eq!(found.map(|holder| holder.pid), Some(other.id()));
        ProjectLock::acquire(&state, &start(), &[]).expect("its holder has ended");
    }

    /// Writes the lock file as a process of another container has, which shares the folder but neither its processes nor its locks.
    fn write_foreign_holder(state: &Path) -> PathBuf {
        drop(ProjectLock::acquire(state, &start(), &[]).expect("free"));
        let own = ProcessMark::of_this_process();
        let holder = LockHolder {
            pid: std::process::id(),
            process: ProcessMark {
                pid_namespace: own.pid_namespace.map(|inode| inode + 1),
                ..own
            },
            purpose: start(),
            started_at: SystemTime::now(),
            database_port: 0,
            service_ports: Vec::new(),
            state_dir: PathBuf::from("/elsewhere/.selvedge"),
            lock_inode: 0,
            lock_device: 0,
            endpoint: None,
        };
        let path = state.join("lock");
        std::fs::write(&path, serde_json::to_string(&holder).expect("JSON")).expect("written");
        path
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_holder_of_another_container_is_seen_by_its_heartbeat() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join(".selvedge");
        let path = write_foreign_holder(&state);
        let living = Heartbeat::start(&path).expect("started");

        let refused = ProjectLock::acquire(&state, &start(), &[]);
        drop(living);
        let old = SystemTime::now() - Duration::from_secs(120);
        let file = open_lock_file(&path).expect("opened");
        file.set_modified(old).expect("set");
        let freed = ProjectLock::acquire(&state, &start(), &[]);

        assert!(matches!(refused, Err(ClusterError::AlreadyRunning(_))));
        assert!(freed.is_ok());
    }
}
