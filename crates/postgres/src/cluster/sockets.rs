//! The folder of the unix socket. Linux limits a socket's path to 107 bytes, so a long project path needs a shorter
//! folder elsewhere. Anyone who may enter the folder can connect to the socket, so only the cluster's user may enter
//! it.

use std::{
    os::unix::{
        fs::MetadataExt,
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
};

use super::{
    error::ClusterError,
    own_file::{read_own_text, write_private},
    owner::Owner,
};

/// The longest path that a socket can have everywhere (104 bytes on macOS, with the final NUL).
const MAX_PATH: usize = 103;

/// The file beside the data that names a socket folder elsewhere.
const REMEMBERED: &str = "socket-folder";
/// The file in that folder that says for which data folder it is.
const DATA_FOLDER: &str = "data-folder";

/// The folder for the socket. Socket and lock files of an earlier postmaster are removed, because PostgreSQL refuses to
/// start when the pid in such a lock file belongs to any running process. Call it only while no postmaster of this data
/// directory runs.
///
/// # Errors
/// [`ClusterError::SocketInUse`] when a process listens on a socket of the folder: its PostgreSQL would get no connections
/// any more, and those that are meant for it would reach this one.
pub(crate) fn socket_dir(home: &Path, owner: &Owner, port: u16) -> Result<PathBuf, ClusterError> {
    let folder = choose_socket_dir(home, owner, port)?;
    for entry in std::fs::read_dir(&folder)
        .map_err(ClusterError::file(&folder))?
        .flatten()
    {
        if entry.file_name().to_string_lossy().starts_with(".s.PGSQL.") {
            remove_unused_socket(&entry.path())?;
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
    // random, recorded for the next start, and used again only if it still belongs to the cluster's user. The record is copied with
    // the project, so the folder itself says whose data it is for.
    let remembered = home.join(REMEMBERED);
    let data_folder = describe_data_folder(home)?;
    if let Ok(folder) = read_own_text(&remembered) {
        let folder = PathBuf::from(folder.trim());
        let is_own = folder
            .symlink_metadata()
            .is_ok_and(|meta| meta.is_dir() && meta.uid() == owner.uid());
        if is_own && std::fs::read_to_string(folder.join(DATA_FOLDER)).is_ok_and(|text| text == data_folder) {
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
    let described = folder.join(DATA_FOLDER);
    std::fs::write(&described, data_folder).map_err(ClusterError::file(&described))?;
    owner.give_ownership_of(&folder)?;
    write_private(&remembered, &format!("{}\n", folder.display()))?;
    Ok(folder)
}

/// Path, device and inode of the data folder: a copy differs in the path, and another folder in the same place in the inode.
fn describe_data_folder(home: &Path) -> Result<String, ClusterError> {
    let path = home.canonicalize().map_err(ClusterError::file(home))?;
    let meta = path.metadata().map_err(ClusterError::file(&path))?;
    Ok(format!("{}\n{} {}\n", path.display(), meta.dev(), meta.ino()))
}

/// Deletes the socket folder that a data folder has elsewhere, if it has one that is its own.
pub(crate) fn remove_far_socket_dir(home: &Path) {
    let Ok(folder) = read_own_text(&home.join(REMEMBERED)) else {
        return;
    };
    let folder = PathBuf::from(folder.trim());
    let is_own = describe_data_folder(home).ok() == std::fs::read_to_string(folder.join(DATA_FOLDER)).ok();
    if is_own && folder.join(DATA_FOLDER).is_file() {
        // It is empty but for this file unless PostgreSQL was killed; then it stays in the system's temporary folder.
        std::fs::remove_file(folder.join(DATA_FOLDER)).ok();
        std::fs::remove_dir(&folder).ok();
    }
}

/// Removes a socket, or its lock file, unless somebody listens on it.
fn remove_unused_socket(path: &Path) -> Result<(), ClusterError> {
    let is_socket = path.extension().is_none_or(|extension| extension != "lock");
    if is_socket && UnixStream::connect(path).is_ok() {
        return Err(ClusterError::SocketInUse {
            socket: path.to_owned(),
        });
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(ClusterError::file(path)(error)),
        _ => Ok(()),
    }
}

/// As [`bind_http_socket`], replacing the socket of another process by a rename, so that one of the two answers at every moment.
///
/// # Errors
/// When the socket or its folder cannot be made.
pub(super) fn replace_http_socket(socket_dir: &Path, owner: &Owner) -> Result<UnixListener, ClusterError> {
    let folder = socket_dir.join("http");
    owner.create_private_dir(&folder)?;
    let (path, new) = (folder.join(".s.PGSQL.1"), folder.join(".next"));
    remove_unused_socket(&new)?;
    let listener = UnixListener::bind(&new).map_err(ClusterError::file(&new))?;
    owner.give_ownership_of(&new)?;
    std::fs::rename(&new, &path).map_err(ClusterError::file(&path))?;
    Ok(listener)
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
    remove_unused_socket(&path)?;
    let listener = UnixListener::bind(&path).map_err(ClusterError::file(&path))?;
    // Connecting takes the right to write, which PostgreSQL's user lacks on what root has made.
    owner.give_ownership_of(&path)?;
    Ok(listener)
}

/// Whether a socket can be beside the data, also of a cluster that is being restored there. One in the system's temporary folder may lose
/// its folder while the cluster runs.
#[must_use]
pub fn fits_beside(home: &Path) -> bool {
    fits_socket_path(&home.join("restoring/run"), u16::MAX)
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

    #[test]
    fn a_copied_data_folder_gets_a_socket_folder_of_its_own() {
        let owner = Owner::for_this_process().expect("a user");
        let folder = tempfile::tempdir().expect("a folder");
        let (original, copy) = (
            folder.path().join("x".repeat(100)),
            folder.path().join("y".repeat(100)),
        );
        for home in [&original, &copy] {
            std::fs::create_dir(home).expect("created");
        }

        let of_original = socket_dir(&original, &owner, 54_322).expect("created");
        std::fs::copy(original.join(REMEMBERED), copy.join(REMEMBERED)).expect("copied");
        let of_copy = socket_dir(&copy, &owner, 54_322).expect("created");

        assert_ne!(of_original, of_copy);
        assert_eq!(socket_dir(&original, &owner, 54_322).expect("found"), of_original);
        for home in [&original, &copy] {
            remove_far_socket_dir(home);
        }
        assert!(!of_original.exists() && !of_copy.exists());
    }

    #[test]
    fn a_socket_on_which_somebody_listens_stays() {
        let owner = Owner::for_this_process().expect("a user");
        let folder = tempfile::tempdir().expect("a folder");
        let run = socket_dir(folder.path(), &owner, 54_322).expect("created");
        let path = run.join(".s.PGSQL.54322");

        let listener = UnixListener::bind(&path).expect("bound");
        let refused = socket_dir(folder.path(), &owner, 54_322);
        drop(listener);
        let stale = path.exists();

        assert!(matches!(refused, Err(ClusterError::SocketInUse { .. })));
        assert!(stale && socket_dir(folder.path(), &owner, 54_322).is_ok() && !path.exists());
    }
}
