//! Folders that belong to one process. Their files are unfinished writes, and abandoned once the process has ended.
//!
//! A process claims its folder by a file lock, which the operating system releases when the process ends for any reason. A
//! process therefore never removes what another one is still writing, and nothing has to be recorded.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use uuid::Uuid;

/// The folder of this process below a common one, and the lock on it.
#[derive(Debug)]
pub(super) struct ClaimedFolder {
    common: PathBuf,
    own: PathBuf,
    _claim: Flock<File>,
}

impl ClaimedFolder {
    /// Creates this process's folder below `common`, and removes abandoned folders there. `common` is created when missing.
    ///
    /// # Errors
    /// When a folder cannot be created, read or locked.
    pub(super) fn open(common: &Path) -> io::Result<Self> {
        create_private(common)?;
        let removed = remove_abandoned(common)?;
        if removed > 0 {
            tracing::info!(removed, "removed unfinished uploads of an earlier run");
        }
        let (own, claim) = claim_folder(common)?;
        Ok(Self {
            common: common.to_owned(),
            own,
            _claim: claim,
        })
    }

    /// The claimed folder in which files may be written.
    pub(super) fn path(&self) -> &Path {
        &self.own
    }

    /// Removes the folders of processes that have ended; returns the number of their files.
    pub(super) fn remove_abandoned(&self) -> io::Result<u64> {
        remove_abandoned(&self.common)
    }
}

impl Drop for ClaimedFolder {
    fn drop(&mut self) {
        // Fails when a file is still in it; then the next start removes the folder.
        let _ = fs::remove_dir(&self.own);
    }
}

/// Creates a folder and its parents, accessible for our user only: private objects must be hidden from others on this
/// machine.
pub(super) fn create_private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn claim_folder(common: &Path) -> io::Result<(PathBuf, Flock<File>)> {
    loop {
        let folder = common.join(Uuid::new_v4().to_string());
        fs::create_dir(&folder)?;
        // A file lock does not prevent deletion: it only shows to other processes, which try to lock the folder, that it is
        // in use.
        match File::open(&folder).map(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock)) {
            Ok(Ok(claim)) if folder.is_dir() => return Ok((folder, claim)),
            Ok(Err((_, error))) if error != Errno::EWOULDBLOCK => return Err(error.into()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            // Between creating and locking, another process that is starting took the folder for an abandoned one. Try
            // again.
            _ => {}
        }
    }
}

fn remove_abandoned(common: &Path) -> io::Result<u64> {
    let mut removed = 0;
    for entry in fs::read_dir(common)? {
        let folder = entry?.path();
        // A file lock belongs to the open file and not to the process, so locking fails for the folder of this process
        // too.
        let claim = File::open(&folder).map(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock));
        if let Ok(Ok(_claim)) = claim {
            removed += fs::read_dir(&folder)?.count() as u64;
            fs::remove_dir_all(&folder)?;
        }
    }
    Ok(removed)
}
