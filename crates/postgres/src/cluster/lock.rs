//! One server per project: an advisory lock on `.selvedge/lock`, which the kernel gives back however its holder ends.
//! The file also says who holds it, for the second one who asks.

use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{Read, Seek, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use super::error::ClusterError;

/// Who runs a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHolder {
    /// Its process id.
    pub pid: u32,
    /// Since when.
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

/// The lock; dropping it gives it back.
#[derive(Debug)]
pub struct ProjectLock {
    _file: Flock<File>,
}

impl ProjectLock {
    /// Takes the project's lock and creates its state folder when missing.
    ///
    /// # Errors
    /// [`ClusterError::AlreadyRunning`] says who holds it.
    pub fn acquire(
        state_dir: &Path,
        database_port: u16,
        service_ports: &[u16],
    ) -> Result<Self, ClusterError> {
        create_state_dir(state_dir)?;
        let path = state_dir.join("lock");
        let file = open(&path)?;
        let mut file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(file) => file,
            Err((file, _)) => return Err(ClusterError::AlreadyRunning(Box::new(read(file, state_dir)))),
        };
        let holder = LockHolder {
            pid: std::process::id(),
            started_at: SystemTime::now(),
            database_port,
            service_ports: service_ports.to_vec(),
            state_dir: state_dir.to_owned(),
        };
        let text = serde_json::to_string(&holder).expect("numbers and strings become JSON");
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(text.as_bytes()))
            .map_err(ClusterError::file(&path))?;
        Ok(Self { _file: file })
    }

    /// Who holds the project's lock, if anybody does.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn holder(state_dir: &Path) -> Result<Option<LockHolder>, ClusterError> {
        let path = state_dir.join("lock");
        if !path.exists() {
            return Ok(None);
        }
        match Flock::lock(open(&path)?, FlockArg::LockExclusiveNonblock) {
            Ok(_free) => Ok(None),
            Err((file, _)) => Ok(Some(read(file, state_dir))),
        }
    }
}

fn create_state_dir(state_dir: &Path) -> Result<(), ClusterError> {
    std::fs::create_dir_all(state_dir).map_err(ClusterError::file(state_dir))?;
    // Nothing in it belongs into a repository, whatever the project's own .gitignore says.
    let ignore = state_dir.join(".gitignore");
    if !ignore.exists() {
        std::fs::write(&ignore, "*\n").map_err(ClusterError::file(&ignore))?;
    }
    Ok(())
}

fn open(path: &Path) -> Result<File, ClusterError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(ClusterError::file(path))
}

fn read(mut file: File, state_dir: &Path) -> LockHolder {
    let mut text = String::new();
    let read = file
        .read_to_string(&mut text)
        .ok()
        .and_then(|_| serde_json::from_str(&text).ok());
    // A holder that has not written yet: it is starting this very moment.
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
    fn a_second_lock_says_who_holds_the_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join(".selvedge");
        assert_eq!(ProjectLock::holder(&state).expect("readable"), None);

        let first = ProjectLock::acquire(&state, 54_322, &[54_321]).expect("free");
        let error = ProjectLock::acquire(&state, 1, &[])
            .expect_err("taken")
            .to_string();
        let holder = ProjectLock::holder(&state).expect("readable").expect("held");
        drop(first);

        assert!(
            error.contains(&format!("process {}", std::process::id())),
            "{error}"
        );
        assert!(error.contains("on ports 54321, 54322"), "{error}");
        assert_eq!(holder.pid, std::process::id());
        assert_eq!(ProjectLock::holder(&state).expect("readable"), None);
        ProjectLock::acquire(&state, 1, &[]).expect("free again");
    }
}
