//! The folder with the program trees, added extensions and downloaded programs.
//!
//! The cluster runs programs from there, so no user but this one and root may write to it or replace one of its parents.

use std::{
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use nix::unistd::{User, geteuid};

use crate::cluster::owner::Owner;

/// The cache folder of the machine, for root.
const MACHINE_CACHE: &str = "/var/cache";

/// The folder for program trees and what is added to them: `selvedge` in the user's cache folder, so that all projects share one
/// tree, or the project's own data folder `home` when the former cannot be made or is not safe.
pub(crate) fn shared_folder(owner: &Owner, home: &Path) -> PathBuf {
    user_cache()
        .map(|cache| cache.join("selvedge"))
        .filter(|folder| create_folder(folder).is_ok() && is_safe(folder) && owner.can_reach(folder))
        .unwrap_or_else(|| home.to_owned())
}

fn user_cache() -> Option<PathBuf> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let named = variable("XDG_CACHE_HOME");
    if geteuid().is_root() {
        // `sudo` may pass the variable of another user on, in whose folder root must leave no files.
        return named
            .filter(|cache| is_safe(cache))
            .or_else(|| Some(PathBuf::from(MACHINE_CACHE)));
    }
    // After a `sudo` both variables may still be root's, or another user's.
    let is_own = |folder: &PathBuf| {
        folder
            .metadata()
            .is_ok_and(|meta| meta.uid() == geteuid().as_raw())
    };
    let home = || {
        let home = variable("HOME").filter(is_own);
        home.or_else(|| Some(User::from_uid(geteuid()).ok()??.dir))
    };
    named
        .filter(|cache| !cache.exists() || is_own(cache))
        .or_else(|| Some(home()?.join(".cache")))
}

/// Creates a folder and its parents, which everybody may read and only this user may write.
pub(super) fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(folder)?;
    // The umask may have taken rights away, and the cluster may run as another user.
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
}

/// Writes the files of a folder to the disk before it gets its final name, so that a power failure leaves no empty ones under it.
pub(crate) fn sync_files(root: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(nix::unistd::syncfs(std::fs::File::open(root)?)?);
    #[cfg(not(target_os = "linux"))]
    walkdir::WalkDir::new(root)
        .into_iter()
        .flatten()
        .filter(|entry| entry.file_type().is_file())
        .try_for_each(|entry| std::fs::File::open(entry.path())?.sync_all())
}

/// Whether only this user and root can change what is at this path.
pub(crate) fn is_safe(folder: &Path) -> bool {
    let Ok(real) = folder.canonicalize() else {
        return false;
    };
    is_ours_alone(&real)
        && real.ancestors().skip(1).all(|parent| {
            // In a folder with the sticky bit, such as /tmp, only owners rename what is theirs.
            parent.metadata().is_ok_and(|meta| {
                is_trusted_owner(meta.uid()) && (!is_shared(&meta) || meta.mode() & 0o1000 != 0)
            })
        })
}

/// Whether a folder belongs to this user or root and no other user may write to it. False for a symbolic link.
pub(crate) fn is_ours_alone(folder: &Path) -> bool {
    folder
        .symlink_metadata()
        .is_ok_and(|meta| meta.is_dir() && is_trusted_owner(meta.uid()) && !is_shared(&meta))
}

fn is_trusted_owner(uid: u32) -> bool {
    uid == 0 || uid == geteuid().as_raw()
}

/// Whether the group or everybody may write.
fn is_shared(meta: &std::fs::Metadata) -> bool {
    meta.mode() & 0o022 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_028_a_folder_that_others_may_write_is_not_used_for_programs() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        create_folder(&inner).expect("created");
        assert!(is_safe(&inner));

        std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(0o775)).expect("ours");
        assert!(!is_safe(&inner));

        std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(0o755)).expect("ours");
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).expect("ours");
        assert!(!is_safe(&inner));

        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&inner, &link).expect("linked");
        assert!(!is_ours_alone(&link));
    }
}
