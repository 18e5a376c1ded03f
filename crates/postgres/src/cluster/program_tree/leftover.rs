//! Removes program trees that were not used for a long time: of replaced packages, and of older versions of this program.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// How long a tree is kept after its last use.
const KEPT_AFTER_USE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The file of a tree whose lock every process of a cluster holds that runs from it. A list of processes would not do: a container sees its
/// own ones, and may share the folder with others.
pub(super) const LOCK_FILE: &str = "in-use";

/// Opens and locks the tree to which a program belongs. Given to the program as its standard input, it is locked as long as the program
/// or one of its children runs. `None` for a program that is in no tree, and for trees of older versions.
pub(crate) fn hold_tree_of(program: &Path) -> Option<File> {
    let tree = program.ancestors().find(|folder| {
        folder
            .file_name()
            .is_some_and(|name| is_tree_name(&name.to_string_lossy()))
    })?;
    let lock = File::open(tree.join(LOCK_FILE)).ok()?;
    lock.lock_shared().ok()?;
    Some(lock)
}

/// Whether a folder has a tree's name: `postgresql-15-` and a fingerprint. Copies of npm's packages, which trees link to, may
/// be in the same folder, and their names end with a version.
fn is_tree_name(name: &str) -> bool {
    name.strip_prefix("postgresql-")
        .and_then(|rest| rest.split_once('-'))
        .is_some_and(|(_, print)| print.len() == 16 && print.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Records that a tree is used now, so that it is not taken for a leftover.
pub(super) fn mark_as_used(tree: &Path) {
    // A tree that another user has made cannot be marked; that user's starts mark it.
    let _ = File::open(tree).and_then(|folder| folder.set_modified(SystemTime::now()));
}

/// Removes the trees of `folder` that have not been used for a month and that no process runs from. What cannot be removed
/// stays, because it only takes room.
pub(super) fn remove_leftover_trees(folder: &Path) {
    for tree in find_leftover_trees(folder, SystemTime::now()) {
        // Held until the tree is gone, so that no cluster starts from what is left of it.
        let lock = File::open(tree.join(LOCK_FILE));
        let is_used = match lock.as_ref().map(File::try_lock) {
            Ok(Ok(())) => false,
            Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) => true,
            // Trees of older versions have no such file.
            Err(_) => is_running_from(&tree),
        };
        if !is_used {
            let _ = std::fs::remove_dir_all(tree);
        }
    }
}

fn find_leftover_trees(folder: &Path, now: SystemTime) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let is_leftover = |entry: &std::fs::DirEntry| {
        let used = entry.metadata().and_then(|meta| meta.modified());
        let age = used.ok().and_then(|used| now.duration_since(used).ok());
        is_tree_name(&entry.file_name().to_string_lossy())
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && age.is_some_and(|age| age > KEPT_AFTER_USE)
    };
    entries
        .flatten()
        .filter(is_leftover)
        .map(|entry| entry.path())
        .collect()
}

/// Whether a process runs a program of the tree; true where the operating system does not tell.
fn is_running_from(tree: &Path) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return true;
    };
    processes
        .flatten()
        .filter_map(|process| std::fs::read_link(process.path().join("exe")).ok())
        .any(|program| program.starts_with(tree))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_that_have_not_been_used_for_a_month_are_leftovers() {
        let folder = tempfile::tempdir().expect("a folder");
        let (old, used) = ("postgresql-15-0123456789abcdef", "postgresql-15-0123456789abcde0");
        for name in [old, used, "postgresql-18.4.0-beta.17"] {
            std::fs::create_dir(folder.path().join(name)).expect("created");
        }
        let later = SystemTime::now() + KEPT_AFTER_USE + Duration::from_secs(60);
        let tree = File::open(folder.path().join(used)).expect("a folder");
        tree.set_modified(later).expect("the tests' own folder");

        assert_eq!(
            find_leftover_trees(folder.path(), later),
            [folder.path().join(old)]
        );
        assert!(find_leftover_trees(folder.path(), SystemTime::now()).is_empty());
        assert!(find_leftover_trees(Path::new("/nowhere"), later).is_empty());
    }

    #[test]
    fn gw_028_a_tree_from_which_a_process_runs_is_kept_until_it_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let tree = folder.path().join("postgresql-15-0123456789abcdef");
        std::fs::create_dir(&tree).expect("created");
        std::fs::write(tree.join(LOCK_FILE), "").expect("written");
        let held = hold_tree_of(&tree.join("lib/bin/postgres")).expect("a tree");
        let mut process = std::process::Command::new("sleep")
            .arg("600")
            .stdin(held)
            .spawn()
            .expect("it runs");
        let folder_of_tree = File::open(&tree).expect("a folder");
        let long_ago = SystemTime::now() - KEPT_AFTER_USE * 2;
        folder_of_tree
            .set_modified(long_ago)
            .expect("the tests' own folder");

        remove_leftover_trees(folder.path());
        assert!(tree.exists());

        process.kill().and_then(|()| process.wait()).expect("it ends");
        remove_leftover_trees(folder.path());
        assert!(!tree.exists());
    }
}
