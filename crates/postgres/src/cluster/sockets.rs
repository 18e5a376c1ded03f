//! The folder of the unix socket. A socket's path may have 107 bytes, and whoever may enter its folder may knock, so it
//! is short and closed to other users.

use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::{error::ClusterError, owner::Owner};

/// The longest path that a socket can have everywhere (104 bytes on macOS, with the final NUL).
const MAX_PATH: usize = 103;

/// The folder for the socket, without what an earlier postmaster left in it: its lock file would keep the new one out
/// when its process number is in use again. No postmaster of this data directory runs when this is called.
pub(crate) fn socket_dir(home: &Path, owner: &Owner, port: u16) -> Result<PathBuf, ClusterError> {
    let folder = choose(home, owner, port)?;
    for entry in std::fs::read_dir(&folder)
        .map_err(ClusterError::file(&folder))?
        .flatten()
    {
        if entry.file_name().to_string_lossy().starts_with(".s.PGSQL.") {
            std::fs::remove_file(entry.path()).map_err(ClusterError::file(&entry.path()))?;
        }
    }
    Ok(folder)
}

/// `run` beside the data, or a folder in the temporary one when that path is too long.
fn choose(home: &Path, owner: &Owner, port: u16) -> Result<PathBuf, ClusterError> {
    let near = home.join("run");
    if fits(&near, port) {
        owner.create_private_dir(&near)?;
        return Ok(near);
    }
    // The name must not be one that another user could have taken before us, so it is remembered, and checked.
    let remembered = home.join("socket-folder");
    if let Ok(folder) = std::fs::read_to_string(&remembered) {
        let folder = PathBuf::from(folder.trim());
        if folder
            .symlink_metadata()
            .is_ok_and(|meta| meta.is_dir() && meta.uid() == owner.uid())
        {
            return Ok(folder);
        }
    }
    let folder = tempfile::Builder::new()
        .prefix("selvedge-")
        .tempdir_in(if fits(&std::env::temp_dir().join("selvedge-123456"), port) {
            std::env::temp_dir()
        } else {
            PathBuf::from("/tmp")
        })
        .map_err(ClusterError::file(&std::env::temp_dir()))?
        .keep();
    owner.give(&folder)?;
    std::fs::write(&remembered, format!("{}\n", folder.display()))
        .map_err(ClusterError::file(&remembered))?;
    Ok(folder)
}

fn fits(folder: &Path, port: u16) -> bool {
    folder.join(format!(".s.PGSQL.{port}.lock")).as_os_str().len() <= MAX_PATH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_moves_the_socket_to_a_short_one_and_stays_there() {
        let owner = Owner::for_this_process().expect("a user");
        let folder = tempfile::tempdir().expect("a folder");
        let long = folder.path().join("x".repeat(100));
        std::fs::create_dir(&long).expect("created");

        let near = socket_dir(folder.path(), &owner, 54_322).expect("created");
        let first = socket_dir(&long, &owner, 54_322).expect("created");
        let second = socket_dir(&long, &owner, 54_322).expect("found");

        assert_eq!(near, folder.path().join("run"));
        assert_eq!(first, second);
        assert!(fits(&first, 54_322));
        std::fs::remove_dir_all(first).expect("ours");
    }
}
