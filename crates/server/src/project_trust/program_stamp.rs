//! Tells a program that a user has trusted from another one that a change of the project has put at its path.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use walkdir::WalkDir;

/// A hash of the names, inodes, sizes and times of a program, or of all files in a folder of programs. Git and archives write a changed file
/// anew, with another inode and the present time. Reading the programs themselves, hundreds of megabytes, would delay every command.
pub(super) fn stamp_program(path: &Path) -> String {
    let mut hash = Sha256::new();
    let installation = installation_of(path);
    let root = installation
        .canonicalize()
        .unwrap_or_else(|_| installation.to_owned());
    let walk = WalkDir::new(installation).follow_links(true);
    for entry in walk.sort_by_file_name().into_iter().flatten() {
        let Ok(meta) = entry.path().metadata() else {
            continue;
        };
        // The first start of a package makes links between its libraries, which are counted themselves.
        let is_inner_link = entry.depth() > 0
            && entry.path_is_symlink()
            && entry
                .path()
                .canonicalize()
                .is_ok_and(|target| target.starts_with(&root));
        if meta.is_dir() || is_inner_link {
            continue;
        }
        hash.update(entry.path().as_os_str().as_encoded_bytes());
        for number in [meta.ino(), meta.size()] {
            hash.update(number.to_le_bytes());
        }
        // Not the time of the last change of the inode: links to programs are made in the copies that run.
        for number in [meta.mtime(), meta.mtime_nsec()] {
            hash.update(number.to_le_bytes());
        }
    }
    hex::encode(hash.finalize())[..32].to_owned()
}

/// The whole installation that a folder `bin` belongs to: the libraries beside it run as well.
fn installation_of(path: &Path) -> &Path {
    match path.parent() {
        Some(around) if path.ends_with("bin") && around.join("lib").is_dir() => around,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_109_a_program_that_was_replaced_has_another_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("bin")).unwrap();
        for name in ["bin/initdb", "bin/postgres"] {
            std::fs::write(path(name), "trusted").unwrap();
        }
        let before = stamp_program(&path("bin"));
        let (of_file, again) = (stamp_program(&path("bin/postgres")), stamp_program(&path("bin")));

        std::fs::write(path("new"), "hostile").unwrap();
        std::fs::rename(path("new"), path("bin/postgres")).unwrap();

        assert_eq!(before, again);
        assert_ne!(stamp_program(&path("bin")), before);
        assert_ne!(stamp_program(&path("bin/postgres")), of_file);
        // A library beside the programs.
        std::fs::create_dir(path("lib")).unwrap();
        let without = stamp_program(&path("bin"));
        std::fs::write(path("lib/libpq.so.5"), "hostile").unwrap();
        assert_ne!(stamp_program(&path("bin")), without);
    }
}
