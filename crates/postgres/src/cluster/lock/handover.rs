//! Passes the lock of a server on to the process that takes its place, so that no third one gets it in between.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nix::fcntl::{Flock, FlockArg};

use super::{ProjectLock, SERVER};
use crate::cluster::error::ClusterError;
use crate::cluster::lock_holder::LockPurpose;

impl ProjectLock {
    /// Another handle of the lock, for the process that takes the place of this one. The lock is held as long as either is open.
    ///
    /// # Errors
    /// When the system has no handles left.
    pub fn share(&self) -> io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }

    /// Leaves the lock to the process that has another handle of it. This one's stays open until the process ends: closing it here would unlock it
    /// for both.
    pub fn leave_to_successor(self) {
        std::mem::forget(self);
    }
}

/// A handle of the lock that the previous server still holds. Dropping it does not unlock, because the other handle stays open.
#[derive(Debug)]
pub struct InheritedLock(File);

impl InheritedLock {
    /// Takes a received handle; `None` if it is of another file than this folder's lock.
    #[must_use]
    pub fn of_server(handle: OwnedFd, state_dir: &Path) -> Option<Self> {
        let file = File::from(handle);
        let (own, named) = (file.metadata().ok()?, state_dir.join(SERVER).metadata().ok()?);
        ((own.dev(), own.ino()) == (named.dev(), named.ino())).then_some(Self(file))
    }

    /// Holds the lock, and writes into its file that this process does.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn take(
        self,
        state_dir: &Path,
        purpose: &LockPurpose,
        service_ports: &[u16],
    ) -> Result<ProjectLock, ClusterError> {
        let path = state_dir.join(SERVER);
        // Both handles have the lock already, so this succeeds at once unless the handle is a wrong one.
        let file = Flock::lock(self.0, FlockArg::LockExclusiveNonblock)
            .map_err(|(_, error)| ClusterError::file(&path)(error.into()))?;
        ProjectLock::describe(file, path, state_dir, purpose, service_ports)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serve() -> LockPurpose {
        LockPurpose::server(LockPurpose::SERVE)
    }

    #[test]
    fn prod_004_a_lock_that_is_passed_on_is_never_free() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path();
        let before = ProjectLock::acquire_for_server(state, &serve(), &[1]).expect("free");
        let is_free = || ProjectLock::acquire_for_server(state, &serve(), &[3]).is_ok();

        // A new process that fails changes nothing.
        let failing = InheritedLock::of_server(before.share().expect("a handle"), state);
        drop(failing.expect("it is the lock"));
        assert!(!is_free());

        let inherited = InheritedLock::of_server(before.share().expect("a handle"), state);
        let after = inherited.expect("it is the lock").take(state, &serve(), &[2]);
        let after = after.expect("it is held");
        before.leave_to_successor();

        let holder = ProjectLock::find_server(state).expect("readable").expect("held");
        assert_eq!(holder.service_ports, [2]);
        assert!(!is_free());
        drop(after);
        assert!(is_free());
    }

    #[test]
    fn prod_004_the_lock_of_another_folder_is_not_inherited() {
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let [one, other] = folders
            .each_ref()
            .map(|folder| ProjectLock::acquire_for_server(folder.path(), &serve(), &[]).expect("free"));

        let handle = one.share().expect("a handle");

        assert!(InheritedLock::of_server(handle, folders[1].path()).is_none());
        drop((one, other));
    }
}
