//! The user under which PostgreSQL runs, and the folder of its data.
//!
//! PostgreSQL refuses to run as root. Started as root (containers, small servers), the cluster runs as the user
//! `postgres` if the machine has one, else as `nobody`. No user is created, because a server should not edit
//! `/etc/passwd`, and PostgreSQL requires its user to have an entry there. If that user may not enter the project's folder
//! (`/root/…`), the data is in `/var/lib/selvedge-dev/<hash>` (`data_home`). The data of a production database are always in its home.

use std::{
    fs::File,
    os::unix::{
        fs::{DirBuilderExt, MetadataExt, PermissionsExt, fchown, lchown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
};

use nix::unistd::{User, geteuid};

use super::{data_home, error::ClusterError, production_mark::is_production_home};

/// Parent of the data folders of projects that the cluster's user cannot enter. `/var/lib/selvedge` itself is for a database in production.
const DATA_PARENT: &str = "/var/lib/selvedge-dev";

/// The user that owns and runs the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    uid: u32,
    gid: u32,
    /// Whether it differs from the user of this process, which is root in that case.
    is_other: bool,
}

impl Owner {
    /// The owner of the project's data directory, which alone may run its PostgreSQL; for a project without data, the user of
    /// [`Owner::for_this_process`].
    ///
    /// # Errors
    /// [`ClusterError::OtherOwner`] when the data belong to another user than that of this process, which is not root.
    pub(crate) fn for_project(state_dir: &Path) -> Result<Self, ClusterError> {
        let data_dir = data_home::peek(state_dir).join("pgdata");
        let Ok(meta) = data_dir.metadata() else {
            return Self::for_this_process();
        };
        let uid = geteuid().as_raw();
        if meta.uid() == uid {
            return Self::for_this_process();
        }
        if uid != 0 {
            let owner = User::from_uid(meta.uid().into()).ok().flatten();
            return Err(ClusterError::OtherOwner {
                data_dir,
                owner: owner.map_or_else(|| meta.uid().to_string(), |user| user.name),
            });
        }
        Ok(Self {
            uid: meta.uid(),
            gid: meta.gid(),
            is_other: true,
        })
    }

    /// The user of this process, or `postgres` or `nobody` when this process is root.
    ///
    /// # Errors
    /// When this process is root, and the machine has neither user.
    pub fn for_this_process() -> Result<Self, ClusterError> {
        let uid = geteuid();
        if !uid.is_root() {
            return Ok(Self {
                uid: uid.as_raw(),
                gid: nix::unistd::getegid().as_raw(),
                is_other: false,
            });
        }
        ["postgres", "nobody"]
            .iter()
            .find_map(|name| User::from_name(name).ok().flatten())
            .map(|user| Self {
                uid: user.uid.as_raw(),
                gid: user.gid.as_raw(),
                is_other: true,
            })
            .ok_or(ClusterError::NoUnprivilegedUser)
    }

    pub(crate) fn uid(&self) -> u32 {
        self.uid
    }

    /// Whether it differs from the user of this process.
    pub(crate) fn is_other(&self) -> bool {
        self.is_other
    }

    /// A command that runs as this user, in `/`: the current folder may be one that this user cannot enter.
    #[must_use]
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir("/");
        if self.is_other {
            // As root this also drops all supplementary groups.
            command.uid(self.uid).gid(self.gid);
        }
        command
    }

    /// Makes this user the owner of a file or folder, of a link itself and not of its target (`lchown`); does nothing when it is the user of this process.
    ///
    /// # Errors
    /// When the file cannot be changed.
    pub fn give_ownership_of(&self, path: &Path) -> Result<(), ClusterError> {
        if self.is_other {
            lchown(path, Some(self.uid), Some(self.gid)).map_err(ClusterError::file(path))?;
        }
        Ok(())
    }

    /// The same for an open file, whatever is at its path by now.
    pub(crate) fn give_ownership_of_file(&self, file: &File, path: &Path) -> Result<(), ClusterError> {
        if self.is_other {
            fchown(file, Some(self.uid), Some(self.gid)).map_err(ClusterError::file(path))?;
        }
        Ok(())
    }

    /// Creates a folder that only this user may enter.
    pub(crate) fn create_private_dir(&self, path: &Path) -> Result<(), ClusterError> {
        if !path.is_dir() {
            std::fs::DirBuilder::new()
                .mode(0o700)
                .create(path)
                .map_err(ClusterError::file(path))?;
        }
        self.give_ownership_of(path)
    }

    /// Whether this user can enter `folder` and list it. Only permission bits are checked; where access is granted by
    /// ACLs alone, the answer is false, and files are copied to a folder that the user can reach.
    pub(crate) fn can_reach(&self, folder: &Path) -> bool {
        self.has_access(folder, 0o5)
    }

    /// Whether this user can pass through `folder` to what is in it, as [`Owner::can_reach`] sees it.
    pub(crate) fn can_pass(&self, folder: &Path) -> bool {
        self.has_access(folder, 0o1)
    }

    /// Whether this user has the rights `wanted` in `folder`, and may pass through those around it.
    fn has_access(&self, folder: &Path, wanted: u32) -> bool {
        let Ok(folder) = folder.canonicalize() else {
            return false;
        };
        !self.is_other
            || folder.ancestors().all(|ancestor| {
                ancestor.metadata().is_ok_and(|meta| {
                    let shift = if meta.uid() == self.uid {
                        6
                    } else if meta.gid() == self.gid {
                        3
                    } else {
                        0
                    };
                    // To pass through, `x` is enough; to list a folder takes `r` as well.
                    let needed = if ancestor == folder { wanted } else { 0o1 };
                    (meta.permissions().mode() >> shift) & needed == needed
                })
            })
    }

    /// Returns the folder for the cluster's data: the project's state folder, or a folder outside of the project when this user
    /// cannot enter it. The choice is recorded in the state folder, so that later permission changes do not alter it.
    pub(crate) fn data_home(&self, state_dir: &Path) -> Result<PathBuf, ClusterError> {
        if is_production_home(state_dir) {
            return match self.can_pass(state_dir) {
                true => Ok(state_dir.to_owned()),
                false => Err(ClusterError::UnreachableHome {
                    home: state_dir.to_owned(),
                }),
            };
        }
        if let Some(home) = data_home::find(state_dir)? {
            return Ok(home);
        }
        if self.can_reach(state_dir) {
            return Ok(state_dir.to_owned());
        }
        data_home::create(Path::new(DATA_PARENT), state_dir)
            .map_err(ClusterError::file(Path::new(DATA_PARENT)))
    }
}

/// Lists data folders of projects that do not exist any more, with the state folders that they had.
pub(crate) fn find_abandoned_homes() -> Vec<(PathBuf, PathBuf)> {
    data_home::find_abandoned(Path::new(DATA_PARENT))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRANGER: Owner = Owner {
        uid: 54_321,
        gid: 54_321,
        is_other: true,
    };

    #[test]
    fn can_reach_is_false_below_a_folder_that_others_may_not_enter() {
        let open = tempfile::tempdir_in("/tmp").expect("a folder");
        let below = open.path().join("below");
        std::fs::create_dir(&below).expect("created");

        std::fs::set_permissions(open.path(), std::fs::Permissions::from_mode(0o755)).expect("ours");
        assert!(STRANGER.can_reach(&below));

        std::fs::set_permissions(open.path(), std::fs::Permissions::from_mode(0o700)).expect("ours");
        assert!(!STRANGER.can_reach(&below));
        assert!(
            Owner {
                is_other: false,
                ..STRANGER
            }
            .can_reach(&below)
        );
    }
}
