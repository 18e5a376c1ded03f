//! A data directory that new clusters are copied from.
//!
//! `initdb` and the platform schema take most of a project's first start, and their result depends on the programs and on the machine's
//! locales alone. It is therefore kept beside the program trees: complete, shut down, without a password, and in a folder that only this
//! user can change. Each copy gets a system identifier of its own, by which replicas, backups and nodes tell clusters apart.

mod system_identifier;

use std::{
    fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, lchown},
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use nix::unistd::{getegid, geteuid};
use walkdir::WalkDir;

use super::{
    error::ClusterError,
    owner::Owner,
    program_tree::{
        UNFINISHED, find_older, is_complete, is_copy_complete, is_ours_alone, is_safe, mark_as_used,
        record_files, remove_tree, remove_unfinished, sync_files,
    },
    settings_file::settings_file,
};

/// How the names of all templates begin.
const NAME_BEGIN: &str = "template-";

/// The file whose lock a process holds while it makes a template.
const LOCK_FILE: &str = "template.lock";

/// How long a template is kept after its last use, until another one is made.
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
    /// When the lock's file cannot be made, or its file system knows no locks.
    pub(crate) fn lock(&self) -> io::Result<Option<TemplateLock>> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(nix::libc::O_NOFOLLOW)
            .open(self.parent().join(LOCK_FILE))?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(TemplateLock { _file: file })),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(LOOK_INTERVAL);
                }
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Makes a folder in which the cluster is made that becomes the template. It is removed when the value is dropped, and by a later
    /// start when this process is killed.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn make_workshop(&self) -> io::Result<tempfile::TempDir> {
        for old in find_older(self.parent(), is_template_name, SystemTime::now(), KEPT_AFTER_USE) {
            // A copy that is being made of it fails, and `initdb` makes that cluster.
            remove_tree(&old).ok();
        }
        remove_unfinished(self.parent());
        // The cluster may run as another user.
        self.make_unfinished_folder(0o755)
    }

    /// Sets the mode itself: the umask may take rights away from the cluster's user, and may let a group write.
    fn make_unfinished_folder(&self, mode: u32) -> io::Result<tempfile::TempDir> {
        let folder = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempdir_in(self.parent())?;
        std::fs::set_permissions(folder.path(), Permissions::from_mode(mode))?;
        Ok(folder)
    }

    /// Makes this template of a data directory that was shut down. Call it with the lock.
    ///
    /// # Errors
    /// When it was not shut down in order, has anything but plain files, or cannot be written.
    pub(crate) fn install(&self, _lock: &TemplateLock, data_dir: &Path) -> io::Result<()> {
        self.discard()?;
        let unfinished = self.make_unfinished_folder(0o700)?;
        let files = unfinished.path().join(DATA);
        std::fs::rename(data_dir, &files)?;
        for left in [settings_file(&files), files.join("postmaster.opts")] {
            std::fs::remove_file(left)?;
        }
        change_owner(&files, geteuid().as_raw(), getegid().as_raw())?;
        check_kinds(&files)?;
        system_identifier::check_shut_down(&files)?;
        record_files(unfinished.path())?;
        sync_files(unfinished.path())?;
        std::fs::rename(unfinished.path(), &self.folder)?;
        // The folder has another name now, so there is nothing left to delete.
        let _renamed = unfinished.keep();
        match self.is_usable() {
            true => Ok(()),
            false => Err(io::Error::other("others can change its folder")),
        }
    }

    /// Removes the template, so that the next new project makes another one.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub(crate) fn discard(&self) -> io::Result<()> {
        match remove_tree(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether the copy can be made at this path. Where another user may change a folder above it, that user could put a link there, and root would
    /// write where it leads.
    pub(super) fn can_be_copied_to(target: &Path, owner: &Owner) -> bool {
        !owner.is_other() || target.parent().is_some_and(is_safe)
    }

    /// Makes the data directory `target`, which does not exist, as a copy with another system identifier. Until it is complete, only the user
    /// of this process can enter it.
    ///
    /// # Errors
    /// When it cannot be written, or the template is damaged, which is removed then.
    pub(super) fn copy_to(&self, target: &Path, owner: &Owner) -> Result<(), ClusterError> {
        self.copy_files(target).map_err(ClusterError::file(target))?;
        if let Err(error) = system_identifier::replace(target) {
            self.discard().ok();
            return Err(ClusterError::file(target)(error));
        }
        for entry in walk(target).contents_first(true) {
            let entry = entry.map_err(|error| ClusterError::file(target)(error.into()))?;
            owner.give_ownership_of(entry.path())?;
        }
        Ok(())
    }

    fn copy_files(&self, target: &Path) -> io::Result<()> {
        let source = self.folder.join(DATA);
        for entry in walk(&source) {
            let entry = entry?;
            let name = entry.path().strip_prefix(&source).map_err(io::Error::other)?;
            let copy = target.join(name);
            let kind = entry.file_type();
            if kind.is_dir() {
                DirBuilder::new().mode(0o700).create(&copy)?;
            } else if kind.is_file() {
                std::fs::copy(entry.path(), &copy)?;
            } else {
                return Err(no_file(entry.path()));
            }
        }
        // Another process may have removed it meanwhile.
        match is_copy_complete(&self.folder, DATA, target) {
            true => Ok(()),
            false => Err(io::Error::other("the template lacks files")),
        }
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

/// Everything in a folder, itself included. No link is followed, not even one in its place.
fn walk(folder: &Path) -> WalkDir {
    WalkDir::new(folder).follow_root_links(false)
}

fn change_owner(folder: &Path, uid: u32, gid: u32) -> io::Result<()> {
    for entry in walk(folder) {
        lchown(entry?.path(), Some(uid), Some(gid))?;
    }
    Ok(())
}

/// Refuses links and whatever else is no plain file of this folder alone: the user of the cluster may have put them there, and copies are made by
/// the user of this process, who may read more.
fn check_kinds(folder: &Path) -> io::Result<()> {
    for entry in walk(folder) {
        let entry = entry?;
        let meta = entry.metadata()?;
        if !(meta.is_dir() || meta.is_file() && meta.nlink() == 1) {
            return Err(no_file(entry.path()));
        }
    }
    Ok(())
}

fn no_file(path: &Path) -> io::Error {
    io::Error::other(format!(
        "{} is neither a folder nor a file of its own",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn gw_028_a_template_has_no_links_that_the_clusters_user_has_put_into_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (data, secret) = (folder.path().join("pgdata"), folder.path().join("secret"));
        std::fs::create_dir_all(data.join("base")).expect("made");
        std::fs::write(data.join("base/1"), "rows").expect("written");
        std::fs::write(&secret, "of root").expect("written");
        check_kinds(&data).expect("plain files");

        let planted = data.join("base/2");
        symlink(&secret, &planted).expect("linked");
        check_kinds(&data).expect_err("a link");
        let template = Template {
            folder: folder.path().to_owned(),
        };
        record_files(folder.path()).expect("recorded");
        template
            .copy_files(&folder.path().join("copy"))
            .expect_err("a link");

        std::fs::remove_file(&planted).expect("removed");
        std::fs::hard_link(&secret, &planted).expect("linked");
        check_kinds(&data).expect_err("a second name of another file");
    }

    #[test]
    fn gw_028_a_copy_of_a_template_that_is_removed_meanwhile_is_no_copy() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(folder.path().join("pgdata/base")).expect("made");
        for name in ["pgdata/PG_VERSION", "pgdata/base/1"] {
            std::fs::write(folder.path().join(name), "15").expect("written");
        }
        record_files(folder.path()).expect("recorded");
        let template = Template {
            folder: folder.path().to_owned(),
        };
        let copies = tempfile::tempdir().expect("a folder");
        template.copy_files(&copies.path().join("whole")).expect("copied");

        std::fs::remove_file(folder.path().join("pgdata/base/1")).expect("removed");
        template
            .copy_files(&copies.path().join("half"))
            .expect_err("it lacks a file");
    }
}
