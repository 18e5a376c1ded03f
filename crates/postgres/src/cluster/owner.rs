//! As whom PostgreSQL runs, and where its data lies.
//!
//! PostgreSQL refuses to run as root. Started as root (containers, small servers), the cluster runs as the user
//! `postgres` if the machine has one, else as `nobody`. We create no user: a server has no business editing
//! `/etc/passwd`, and PostgreSQL needs an entry there, so a bare number will not do. That user must be able to reach
//! its data; where the project's folder is closed to it (`/root/…`), the data lies in `/var/lib/selvedge/<project>`.

use std::{
    os::unix::{
        fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
};

use nix::unistd::{User, geteuid};
use sha2::{Digest, Sha256};

use super::error::ClusterError;

/// Where data lies that cannot lie in the project.
const ELSEWHERE: &str = "/var/lib/selvedge";

/// The user that owns and runs the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    uid: u32,
    gid: u32,
    /// Whether it is another user than ours (then we are root).
    is_other: bool,
}

impl Owner {
    pub(crate) fn for_this_process() -> Result<Self, ClusterError> {
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

    /// A command that runs as this user. Its working directory is one that exists for everybody.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir("/");
        if self.is_other {
            // As root this also drops all supplementary groups.
            command.uid(self.uid).gid(self.gid);
        }
        command
    }

    /// Hands a file or folder of ours over.
    pub(crate) fn give(&self, path: &Path) -> Result<(), ClusterError> {
        if self.is_other {
            chown(path, Some(self.uid), Some(self.gid)).map_err(ClusterError::file(path))?;
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
        self.give(path)
    }

    /// Whether this user can enter `folder` and read in it. Permission bits only; whoever uses ACLs gets a copy.
    pub(crate) fn can_reach(&self, folder: &Path) -> bool {
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
                    // To pass through, `x` is enough; to list the folder itself takes `r` as well.
                    let needed = if ancestor == folder { 0o5 } else { 0o1 };
                    (meta.permissions().mode() >> shift) & needed == needed
                })
            })
    }

    /// The folder for the cluster's data: the project's state folder, or one elsewhere when this user cannot reach it.
    /// The choice is recorded in the state folder, so that it does not change with permissions.
    pub(crate) fn data_home(&self, state_dir: &Path) -> Result<PathBuf, ClusterError> {
        let recorded = state_dir.join("location");
        if let Ok(home) = std::fs::read_to_string(&recorded) {
            let home = PathBuf::from(home.trim());
            if home.is_dir() {
                return Ok(home);
            }
        }
        if self.can_reach(state_dir) {
            return Ok(state_dir.to_owned());
        }
        let state = state_dir.canonicalize().map_err(ClusterError::file(state_dir))?;
        let name = &hex::encode(Sha256::digest(state.as_os_str().as_encoded_bytes()))[..16];
        let home = Path::new(ELSEWHERE).join(name);
        for folder in [Path::new(ELSEWHERE), &home] {
            std::fs::create_dir_all(folder).map_err(ClusterError::file(folder))?;
            // Whatever our umask says: its user must get in.
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
                .map_err(ClusterError::file(folder))?;
        }
        std::fs::write(&recorded, format!("{}\n", home.display())).map_err(ClusterError::file(&recorded))?;
        Ok(home)
    }
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
    fn a_closed_folder_is_out_of_reach_for_another_user() {
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
