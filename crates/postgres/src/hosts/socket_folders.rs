//! The folders in which the sockets of this process's clusters are. A path is no identity: when somebody moves the folder of a running project and
//! puts a copy in its place, the same path leads to the PostgreSQL of the copy, which accepts the same logins. Requests would be answered, and
//! writes acknowledged, by another database.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// Folders with their device, inode, and whether it was reported already that the path leads elsewhere.
static FOLDERS: Mutex<BTreeMap<PathBuf, Identity>> = Mutex::new(BTreeMap::new());

#[derive(Debug, Clone, Copy)]
struct Identity {
    device: u64,
    inode: u64,
    is_reported: bool,
}

/// The folder of a cluster that this process runs, known until this is dropped.
#[derive(Debug)]
pub struct SocketFolder {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFolder {
    /// Notes which folder the path leads to now.
    ///
    /// # Errors
    /// When the folder cannot be examined.
    pub(crate) fn remember(path: &Path) -> io::Result<Self> {
        let meta = path.metadata()?;
        let identity = Identity {
            device: meta.dev(),
            inode: meta.ino(),
            is_reported: false,
        };
        lock_folders().insert(path.to_owned(), identity);
        Ok(Self {
            path: path.to_owned(),
            identity: (identity.device, identity.inode),
        })
    }

    /// The path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFolder {
    fn drop(&mut self) {
        let mut folders = lock_folders();
        let known = folders.get(&self.path);
        // A later cluster may be in its place.
        if known.is_some_and(|known| (known.device, known.inode) == self.identity) {
            folders.remove(&self.path);
        }
    }
}

/// Refuses a folder that has come in the place of that of a cluster of this process. Others are not known here.
///
/// # Errors
/// When the path leads to another folder, or to none.
pub(crate) fn check_socket_folder(path: &Path) -> io::Result<()> {
    let mut folders = lock_folders();
    let Some(known) = folders.get_mut(path) else {
        return Ok(());
    };
    let is_same = path
        .metadata()
        .is_ok_and(|meta| (meta.dev(), meta.ino()) == (known.device, known.inode));
    if is_same {
        return Ok(());
    }
    if !std::mem::replace(&mut known.is_reported, true) {
        tracing::error!(
            folder = %path.display(),
            "the project's folder was moved while the project runs, so its database is not reached any more: stop this process, and start \
             the project where it is now"
        );
    }
    Err(io::Error::new(
        io::ErrorKind::NotFound,
        "the project's folder was moved while the project runs",
    ))
}

/// The settings themselves, or ones that reach nobody in the place of those whose folder [`check_socket_folder`] refuses.
pub(crate) fn without_replaced_folder(config: &Config) -> Cow<'_, Config> {
    let replaced = config.get_hosts().iter().find_map(|host| match host {
        Host::Unix(folder) if check_socket_folder(folder).is_err() => Some(folder),
        _ => None,
    });
    let Some(folder) = replaced else {
        return Cow::Borrowed(config);
    };
    let mut nowhere = Config::new();
    nowhere
        .host_path(folder.join("moved-away"))
        .user(config.get_user().unwrap_or_default());
    Cow::Owned(nowhere)
}

fn lock_folders() -> MutexGuard<'static, BTreeMap<PathBuf, Identity>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[tokio::test]
    async fn gw_031_a_folder_in_the_place_of_one_that_was_moved_is_not_connected_to() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("run");
        std::fs::create_dir(&path).expect("made");
        let folder = SocketFolder::remember(&path).expect("it is there");
        let mut config = Config::new();
        config.host_path(&path).user("postgres").port(5432);
        assert!(check_socket_folder(&path).is_ok());
        assert!(matches!(without_replaced_folder(&config), Cow::Borrowed(_)));

        std::fs::rename(&path, home.path().join("moved")).expect("moved");
        std::fs::create_dir(&path).expect("made");
        let other = UnixListener::bind(path.join(".s.PGSQL.5432")).expect("bound");
        other.set_nonblocking(true).expect("set");

        assert!(check_socket_folder(folder.path()).is_err());
        assert!(crate::connect(&config).await.is_err());
        assert!(other.accept().is_err(), "nobody has connected");
        drop(folder);
        assert!(check_socket_folder(&path).is_ok(), "it is nobody's any more");
    }
}
