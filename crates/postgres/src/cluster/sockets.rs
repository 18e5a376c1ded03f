//! The folder of the unix socket. Linux limits a socket's path to 107 bytes, so a long project path needs a shorter
//! folder elsewhere. Anyone who may enter the folder can connect to the socket, so only the cluster's user may enter
//! it.

use std::{
    os::unix::{fs::MetadataExt, net::UnixListener},
    path::{Path, PathBuf},
};

use super::{error::ClusterError, owner::Owner};

/// The longest path that a socket can have everywhere (104 bytes on macOS, with the final NUL).
const MAX_PATH: usize = 103;

/// The folder for the socket. Socket and lock files of an earlier postmaster are removed, because PostgreSQL refuses to
/// start when the pid in such a lock file belongs to any running process. Call it only while no postmaster of this data
/// directory runs.
pub(crate) fn socket_dir(home: &Path, owner: &Owner, port: u16) -> Result<PathBuf, ClusterError> {
    let folder = choose_socket_dir(home, owner, port)?;
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

/// The folder `run` beside the data, or a folder in the system's temporary folder when that path is too long.
fn choose_socket_dir(home: &Path, owner: &Owner, port: u16) -> Result<PathBuf, ClusterError> {
    let near = home.join("run");
    if fits_socket_path(&near, port) {
        owner.create_private_dir(&near)?;
        return Ok(near);
    }
    // In a shared temporary folder another user could create a folder with a predictable name first. The name is therefore
    // random, recorded for the next start, and used again only if it still belongs to the cluster's user.
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
        .tempdir_in(
            if fits_socket_path(&std::env::temp_dir().join("selvedge-123456"), port) {
                std::env::temp_dir()
            } else {
                PathBuf::from("/tmp")
            },
        )
        .map_err(ClusterError::file(&std::env::temp_dir()))?
        .keep();
    owner.give_ownership_of(&folder)?;
    std::fs::write(&remembered, format!("{}\n", folder.display()))
        .map_err(ClusterError::file(&remembered))?;
    Ok(folder)
}

/// Binds the socket `http/.s.PGSQL.1` in the folder of PostgreSQL's own one, the name by which clients of PostgreSQL find a
/// socket. One that an earlier process left is replaced.
///
/// # Errors
/// When the socket or its folder cannot be made.
pub fn bind_http_socket(socket_dir: &Path, owner: &Owner) -> Result<UnixListener, ClusterError> {
    let folder = socket_dir.join("http");
    owner.create_private_dir(&folder)?;
    let path = folder.join(".s.PGSQL.1");
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(ClusterError::file(&path)(error));
        }
        _ => {}
    }
    let listener = UnixListener::bind(&path).map_err(ClusterError::file(&path))?;
    // Connecting takes the right to write, which PostgreSQL's user lacks on what root has made.
    owner.give_ownership_of(&path)?;
    Ok(listener)
}

fn fits_socket_path(folder: &Path, port: u16) -> bool {
    folder.join(format!(".s.PGSQL.{port}.lock")).as_os_str().len() <= MAX_PATH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_moves_the_socket_to_a_temporary_folder_that_later_starts_reuse() {
        let owner = Owner::for_this_process().expect("a user");
        let folder = tempfile::tempdir().expect("a folder");
        let long = folder.path().join("x".repeat(100));
        std::fs::create_dir(&long).expect("created");

        let near = socket_dir(folder.path(), &owner, 54_322).expect("created");
        let first = socket_dir(&long, &owner, 54_322).expect("created");
        let second = socket_dir(&long, &owner, 54_322).expect("found");

        assert_eq!(near, folder.path().join("run"));
        assert_eq!(first, second);
        assert!(fits_socket_path(&first, 54_322));
        std::fs::remove_dir_all(first).expect("ours");
    }
}
