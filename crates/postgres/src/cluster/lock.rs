//! Allows one server per project: an advisory lock (`flock`) on `.selvedge/lock`, which the kernel releases however the
//! process ends. The file's content describes the holder, so that a second start can report it.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Seek, Write},
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use nix::fcntl::{Flock, FlockArg};

use super::error::ClusterError;
use super::lock_holder::LockHolder;

/// How long to retry when the lock is held, see [`lock_patiently`].
const PROBE_PATIENCE: Duration = Duration::from_millis(500);

/// The held lock; dropping it releases it.
#[derive(Debug)]
pub struct ProjectLock {
    _file: Flock<File>,
}

impl ProjectLock {
    /// Takes the project's lock and creates its state folder when missing.
    ///
    /// # Errors
    /// [`ClusterError::AlreadyRunning`] with the holder, when another process has it.
    pub fn acquire(
        state_dir: &Path,
        database_port: u16,
        service_ports: &[u16],
    ) -> Result<Self, ClusterError> {
        create_state_dir(state_dir)?;
        let path = state_dir.join("lock");
        let mut file = match lock_patiently(open_lock_file(&path)?) {
            Ok(file) => file,
            Err(file) => {
                return Err(ClusterError::AlreadyRunning(Box::new(read_lock_holder(
                    file, state_dir,
                ))));
            }
        };
        let holder = LockHolder {
            pid: std::process::id(),
            started_at: SystemTime::now(),
            database_port,
            service_ports: service_ports.to_vec(),
            state_dir: state_dir.to_owned(),
        };
        let text = serde_json::to_string(&holder).expect("numbers and strings become JSON");
        // Written only after the lock is held; a process that failed to get it must not overwrite the holder's
        // description.
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(text.as_bytes()))
            .map_err(ClusterError::file(&path))?;
        Ok(Self { _file: file })
    }

    /// The process that holds the project's lock, or `None` when it is free.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn find_holder(state_dir: &Path) -> Result<Option<LockHolder>, ClusterError> {
        let path = state_dir.join("lock");
        if !path.exists() {
            return Ok(None);
        }
        // A shared lock, so that two processes that probe at the same time do not take each other for the holder.
        match Flock::lock(open_lock_file(&path)?, FlockArg::LockSharedNonblock) {
            Ok(_free) => Ok(None),
            Err((file, _)) => Ok(Some(read_lock_holder(file, state_dir))),
        }
    }
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
    if !ignore.exists() {
        std::fs::write(&ignore, "*\n").map_err(ClusterError::file(&ignore))?;
    }
    Ok(())
}

fn open_lock_file(path: &Path) -> Result<File, ClusterError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        // Opening must not erase the description that the current holder has written.
        .truncate(false)
        .open(path)
        .map_err(ClusterError::file(path))
}

fn read_lock_holder(mut file: File, state_dir: &Path) -> LockHolder {
    let mut text = String::new();
    let read = file
        .read_to_string(&mut text)
        .ok()
        .and_then(|_| serde_json::from_str(&text).ok());
    // The holder has taken the lock but not yet written its description: report it with unknown pid and ports.
    read.unwrap_or_else(|| LockHolder {
        pid: 0,
        started_at: SystemTime::now(),
        database_port: 0,
        service_ports: Vec::new(),
        state_dir: state_dir.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acquire_succeeds_while_others_probe_the_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join(".selvedge");
        drop(ProjectLock::acquire(&state, 1, &[]).expect("free"));
        let probe = open_lock_file(&state.join("lock")).expect("opened");
        let probe = Flock::lock(probe, FlockArg::LockExclusiveNonblock).expect("free");

        let acquired = std::thread::scope(|scope| {
            let acquiring = scope.spawn(|| ProjectLock::acquire(&state, 1, &[]));
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

        let first = ProjectLock::acquire(&state, 54_322, &[54_321]).expect("free");
        let error = ProjectLock::acquire(&state, 1, &[])
            .expect_err("taken")
            .to_string();
        let holder = ProjectLock::find_holder(&state).expect("readable").expect("held");
        drop(first);

        assert!(
            error.contains(&format!("process {}", std::process::id())),
            "{error}"
        );
        assert!(error.contains("on ports 54321, 54322"), "{error}");
        assert_eq!(holder.pid, std::process::id());
        assert_eq!(ProjectLock::find_holder(&state).expect("readable"), None);
        ProjectLock::acquire(&state, 1, &[]).expect("free again");
    }
}
