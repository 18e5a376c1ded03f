//! Opens and writes files of a data folder: never through a link, and only those of this user.
//!
//! A folder that came with a project, or in which another user may write, could hold a link in the place of any file, so that a
//! write would change a file somewhere else.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use nix::unistd::geteuid;

use super::error::ClusterError;

/// Opens a file for reading, and with `creates` for writing as well, without changing what is in it. A new one has the mode 0600.
///
/// # Errors
/// When it cannot be opened, is a link or no file, or belongs neither to the user of this process nor to root.
pub fn open_own_file(path: &Path, creates: bool) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(creates)
        .create(creates)
        .truncate(false)
        .mode(0o600)
        // Opening a pipe would wait for whoever writes to it.
        .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK)
        .open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    if meta.uid() != geteuid().as_raw() && meta.uid() != 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("it belongs to user {}", meta.uid()),
        ));
    }
    Ok(file)
}

/// Reads a file as [`open_own_file`] opens it.
///
/// # Errors
/// When it cannot be opened, or is not text.
pub(crate) fn read_own_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_own_file(path, false)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Writes a file with mode 0600, under a temporary name that is renamed, so that it is never seen half written.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), ClusterError> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = PathBuf::from(unfinished);
    std::fs::remove_file(&unfinished).ok();
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)
        .map_err(ClusterError::file(&unfinished))?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(ClusterError::file(&unfinished))?;
    std::fs::rename(&unfinished, path).map_err(ClusterError::file(path))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn gw_109_links_and_pipes_are_not_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("precious"), "mine").expect("written");
        symlink(path("precious"), path("link")).expect("linked");
        symlink(path("missing"), path("dangling")).expect("linked");
        nix::unistd::mkfifo(&path("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("made");

        for name in ["link", "dangling", "pipe"] {
            assert!(open_own_file(&path(name), false).is_err(), "{name}");
            assert!(open_own_file(&path(name), true).is_err(), "{name}");
        }

        assert!(!path("missing").exists());
        assert_eq!(read_own_text(&path("precious")).expect("a file"), "mine");
    }
}
