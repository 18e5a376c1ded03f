//! Removes program trees that were not used for a long time: of replaced packages, and of older versions of this program.

use std::{
    fs::{File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::complete::{LOCK_FILE, is_complete};
use crate::cluster::error::ClusterError;

/// How long a tree is kept after its last use.
const KEPT_AFTER_USE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How long a tree is kept that nobody has finished: the making of one takes seconds.
const KEPT_UNFINISHED: Duration = Duration::from_secs(24 * 60 * 60);

/// Prefix of the names of trees and templates that are being made, or deleted.
pub(crate) const UNFINISHED: &str = ".unfinished-";

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

/// Records that a tree or a template is used now, so that it is not taken for a leftover.
pub(crate) fn mark_as_used(tree: &Path) {
    // One that another user has made cannot be marked; that user's starts mark it.
    let _ = File::open(tree).and_then(|folder| folder.set_modified(SystemTime::now()));
}

/// Removes the trees of `folder` that have not been used for a month and that no process runs from, and what killed commands have left.
/// What cannot be removed stays, because it only takes room.
pub(super) fn remove_leftover_trees(folder: &Path) {
    let now = SystemTime::now();
    for tree in find_older(folder, is_tree_name, now, KEPT_AFTER_USE) {
        // Held until the tree has another name, so that no cluster starts from what is left of it.
        if let Ok(_held) = hold_alone(&tree) {
            let _ = remove_tree(&tree);
        }
    }
    remove_unfinished(folder);
}

/// Removes what killed commands have left in `folder`. What cannot be removed stays, because it only takes room.
pub(crate) fn remove_unfinished(folder: &Path) {
    let is_unfinished = |name: &str| name.starts_with(UNFINISHED);
    for unfinished in find_older(folder, is_unfinished, SystemTime::now(), KEPT_UNFINISHED) {
        let _ = std::fs::remove_dir_all(unfinished);
    }
}

/// Removes a tree that lacks files, unless another start has replaced it by now.
///
/// # Errors
/// When it cannot be removed, or a cluster runs from it.
pub(super) fn remove_broken_tree(tree: &Path) -> Result<(), ClusterError> {
    let held = hold_alone(tree);
    if is_complete(tree) {
        return Ok(());
    }
    if matches!(held, Err(InUse::Certainly)) {
        // Perhaps by another start, which makes it anew.
        for _ in 0..50 {
            std::thread::sleep(Duration::from_millis(100));
            if is_complete(tree) || !tree.exists() {
                return Ok(());
            }
        }
        return Err(ClusterError::BrokenPrograms {
            folder: tree.to_owned(),
        });
    }
    match remove_tree(tree) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(ClusterError::file(tree)(error)),
        _ => Ok(()),
    }
}

/// Why a tree is not removed as a leftover.
enum InUse {
    /// A process runs from it.
    Certainly,
    /// The file system knows no locks.
    Perhaps,
}

/// Locks a tree for its removal. Trees of older versions have no file to lock.
fn hold_alone(tree: &Path) -> Result<Option<File>, InUse> {
    let Ok(lock) = File::open(tree.join(LOCK_FILE)) else {
        return match is_running_from(tree) {
            true => Err(InUse::Certainly),
            false => Ok(None),
        };
    };
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Err(InUse::Certainly),
        Err(TryLockError::Error(_)) => Err(InUse::Perhaps),
    }
}

/// Gives a tree or a template another name before it is deleted: half of one must not have its name.
pub(crate) fn remove_tree(tree: &Path) -> io::Result<()> {
    let parent = tree.parent().unwrap_or(tree);
    let removed = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(parent)?;
    // An empty folder is replaced. What cannot be deleted now is found by a later start.
    std::fs::rename(tree, removed.path())
}

/// The folders that have such a name and were not changed for some time.
pub(crate) fn find_older(
    folder: &Path,
    has_name: impl Fn(&str) -> bool,
    now: SystemTime,
    kept: Duration,
) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let is_older = |entry: &std::fs::DirEntry| {
        let changed = entry.metadata().and_then(|meta| meta.modified());
        let age = changed.ok().and_then(|changed| now.duration_since(changed).ok());
        has_name(&entry.file_name().to_string_lossy())
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && age.is_some_and(|age| age > kept)
    };
    entries
        .flatten()
        .filter(is_older)
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
    use super::super::complete::record_files;
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

        let find = |folder: &Path, now| find_older(folder, is_tree_name, now, KEPT_AFTER_USE);
        assert_eq!(find(folder.path(), later), [folder.path().join(old)]);
        assert!(find(folder.path(), SystemTime::now()).is_empty());
        assert!(find(Path::new("/nowhere"), later).is_empty());
    }

    #[test]
    fn gw_028_what_killed_starts_have_left_is_removed_after_a_day() {
        let folder = tempfile::tempdir().expect("a folder");
        let [old, new] = ["old", "new"].map(|name| folder.path().join(format!("{UNFINISHED}{name}")));
        for unfinished in [&old, &new] {
            std::fs::create_dir_all(unfinished.join("lib")).expect("made");
        }
        let two_days_ago = SystemTime::now() - KEPT_UNFINISHED * 2;
        let opened = File::open(&old).expect("a folder");
        opened.set_modified(two_days_ago).expect("the tests' own folder");

        remove_leftover_trees(folder.path());

        assert!(!old.exists() && new.exists());
    }

    #[test]
    fn gw_028_a_broken_tree_that_another_start_makes_anew_is_no_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let tree = folder.path().join("postgresql-15-0123456789abcdef");
        for is_made in [false, true] {
            std::fs::create_dir_all(&tree).expect("created");
            for name in [LOCK_FILE, "postgres"] {
                std::fs::write(tree.join(name), "").expect("written");
            }
            let held = hold_alone(&tree).ok().flatten().expect("nobody uses it");
            std::thread::scope(|scope| {
                let other = scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(50));
                    match is_made {
                        true => record_files(&tree).expect("complete now"),
                        false => remove_tree(&tree).expect("removed"),
                    }
                });
                remove_broken_tree(&tree).expect("the other start has mended it");
                other.join().expect("no panic");
            });
            drop(held);
            assert_eq!(tree.exists(), is_made);
        }
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
        let refused = remove_broken_tree(&tree).expect_err("it is in use");
        assert!(refused.to_string().contains("stop"), "{refused}");

        process.kill().and_then(|()| process.wait()).expect("it ends");
        remove_leftover_trees(folder.path());
        let left = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 0);
    }
}
