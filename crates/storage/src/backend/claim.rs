//! Folders that belong to one process: what lies in them is work in progress, and abandoned once the process is gone.
//!
//! The claim is a lock that the operating system drops with the process, however it ends; so no process clears what
//! another one is still writing, and nothing has to be recorded.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use uuid::Uuid;

/// This process's folder below a common one, and its lock.
#[derive(Debug)]
pub(super) struct ClaimedFolder {
    common: PathBuf,
    own: PathBuf,
    _claim: Flock<File>,
}

impl ClaimedFolder {
    /// Makes a folder of our own below `common`, which is created when missing and cleared of what is abandoned.
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

    /// Where to write.
    pub(super) fn path(&self) -> &Path {
        &self.own
    }

    /// Removes what processes left that are gone; returns how many files that were.
    pub(super) fn remove_abandoned(&self) -> io::Result<u64> {
        remove_abandoned(&self.common)
    }
}

impl Drop for ClaimedFolder {
    fn drop(&mut self) {
        // Empty unless uploads are still being dropped; then the next start removes it.
        let _ = fs::remove_dir(&self.own);
    }
}

/// Creates a folder, with its parents, that only we may enter: private objects are nobody's business on this machine.
pub(super) fn create_private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn claim_folder(common: &Path) -> io::Result<(PathBuf, Flock<File>)> {
    loop {
        let folder = common.join(Uuid::new_v4().to_string());
        fs::create_dir(&folder)?;
        match File::open(&folder).map(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock)) {
            Ok(Ok(claim)) if folder.is_dir() => return Ok((folder, claim)),
            Ok(Err((_, error))) if error != Errno::EWOULDBLOCK => return Err(error.into()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            // Another process that starts now has taken the new folder for an abandoned one.
            _ => {}
        }
    }
}

fn remove_abandoned(common: &Path) -> io::Result<u64> {
    let mut removed = 0;
    for entry in fs::read_dir(common)? {
        let folder = entry?.path();
        let claim = File::open(&folder).map(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock));
        if let Ok(Ok(_claim)) = claim {
            removed += fs::read_dir(&folder)?.count() as u64;
            fs::remove_dir_all(&folder)?;
        }
    }
    Ok(removed)
}
