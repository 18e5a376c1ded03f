//! A data directory that new clusters are copied from.
//!
//! `initdb` and the platform schema take most of a project's first start, and their result depends on the programs alone. It is therefore
//! kept beside the program trees: complete, shut down, without a password, and in a folder that only this user can change. Each copy
//! gets a system identifier of its own, by which replicas, backups and nodes tell clusters apart.

mod system_identifier;

use std::{
    fs::{DirBuilder, File, OpenOptions, Permissions},
    io,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, lchown},
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use nix::unistd::{getegid, geteuid};
use walkdir::WalkDir;

use super::{
    error::ClusterError,
    owner::Owner,
    program_tree::{
        UNFINISHED, find_older, is_complete, is_ours_alone, mark_as_used, record_files, remove_unfinished,
        sync_files,
    },
    settings_file::settings_file,
};

/// How the names of all templates begin.
const NAME_BEGIN: &str = "template-";

/// The file whose lock a process holds while it makes a template.
const LOCK_FILE: &str = "template.lock";

/// How long a template is kept after its last use. It is made again within two seconds.
const KEPT_AFTER_USE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How long a start waits for another process that makes the template, and how often it looks.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// The place of a template, whether there is one or not.
#[derive(Debug, Clone)]
pub struct Template {
    folder: PathBuf,
}

/// The lock of all templates in a folder.
pub(crate) struct TemplateLock {
    _file: File,
}

impl Template {
    /// The template in the folder of the program trees whose name has this fingerprint of what it is made from.
    pub(crate) fn in_folder_of_trees(trees: &Path, fingerprint: &str) -> Self {
        Self {
            folder: trees.join(format!("{NAME_BEGIN}{fingerprint}")),
        }
    }

    /// Whether it is there with all of its files, and nobody else can change them.
    pub(crate) fn is_usable(&self) -> bool {
        is_ours_alone(&self.folder) && is_complete(&self.folder)
    }

    /// Records that it is used now, so that it is not taken for a leftover.
    pub(crate) fn mark_as_used(&self) {
        mark_as_used(&self.folder);
    }

    /// Waits until no other process makes a template here. `None` when that takes too long.
    ///
    /// # Errors
    /// When the lock's file cannot be made.
    pub(crate) fn lock(&self) -> io::Result<Option<TemplateLock>> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(nix::libc::O_NOFOLLOW)
            .open(self.parent().join(LOCK_FILE))?;
        let deadline = Instant::now() + PATIENCE;
        while file.try_lock().is_err() {
            if Instant::now() > deadline {
                return Ok(None);
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
        Ok(Some(TemplateLock { _file: file }))
    }

    /// Makes a folder in which the cluster is made that becomes the template. It is removed when the value is dropped, and by a later
    /// start when this process is killed.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn make_workshop(&self) -> io::Result<tempfile::TempDir> {
        for old in find_older(self.parent(), is_template_name, SystemTime::now(), KEPT_AFTER_USE) {
            // A copy that is being made of it fails, and `initdb` makes that cluster.
            std::fs::remove_dir_all(old).ok();
        }
        remove_unfinished(self.parent());
        let folder = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempdir_in(self.parent())?;
        // The cluster may run as another user.
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
        Ok(folder)
    }

    /// Makes this template of a data directory that was shut down. Call it with the lock.
    ///
    /// # Errors
    /// When it was not shut down in order, or its files cannot be written.
    pub(crate) fn install(&self, _lock: &TemplateLock, data_dir: &Path) -> io::Result<()> {
        if self.folder.exists() {
            std::fs::remove_dir_all(&self.folder)?;
        }
        let unfinished = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempdir_in(self.parent())?;
        let files = unfinished.path().join(DATA);
        std::fs::rename(data_dir, &files)?;
        for left in [settings_file(&files), files.join("postmaster.opts")] {
            std::fs::remove_file(left)?;
        }
        give_to(&files, geteuid().as_raw(), getegid().as_raw())?;
        system_identifier::check_shut_down(&files)?;
        record_files(unfinished.path())?;
        sync_files(unfinished.path())?;
        std::fs::rename(unfinished.path(), &self.folder)?;
        // The folder has another name now, so there is nothing left to delete.
        let _renamed = unfinished.keep();
        Ok(())
    }

    /// Makes the data directory `target`, which does not exist, as a copy with another system identifier. Until it is complete only the user
    /// of this process can enter it, so that no link can be put in its way.
    pub(super) fn copy_to(&self, target: &Path, owner: &Owner) -> Result<(), ClusterError> {
        self.copy_files(target)
            .and_then(|()| system_identifier::replace(target))
            .map_err(ClusterError::file(target))?;
        for entry in WalkDir::new(target).contents_first(true) {
            let entry = entry.map_err(|error| ClusterError::file(target)(error.into()))?;
            owner.give_ownership_of(entry.path())?;
        }
        Ok(())
    }

    fn copy_files(&self, target: &Path) -> io::Result<()> {
        let source = self.folder.join(DATA);
        for entry in WalkDir::new(&source) {
            let entry = entry?;
            let name = entry.path().strip_prefix(&source).map_err(io::Error::other)?;
            let copy = target.join(name);
            match entry.file_type().is_dir() {
                true => DirBuilder::new().mode(0o700).create(&copy)?,
                false => std::fs::copy(entry.path(), &copy).map(|_bytes| ())?,
            }
        }
        Ok(())
    }

    fn parent(&self) -> &Path {
        self.folder.parent().unwrap_or(&self.folder)
    }
}

/// The data directory in a template's folder.
const DATA: &str = "pgdata";

fn is_template_name(name: &str) -> bool {
    name.starts_with(NAME_BEGIN)
}

fn give_to(folder: &Path, uid: u32, gid: u32) -> io::Result<()> {
    for entry in WalkDir::new(folder) {
        lchown(entry?.path(), Some(uid), Some(gid))?;
    }
    Ok(())
}
