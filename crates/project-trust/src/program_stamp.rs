//! Tells a program that a user has trusted from another one that a change of the project has put at its path.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use walkdir::WalkDir;

/// A hash of the names, inodes, sizes and times of a program, or of all files in a folder of programs. Git and archives write a changed file
/// anew, with another inode and the present time. Reading the programs themselves, hundreds of megabytes, would delay every command.
pub(super) fn stamp_program(path: &Path) -> String {
    let mut hash = Sha256::new();
    let folders = installation_of(path);
    let root = folders.first().and_then(|folder| folder.parent()).unwrap_or(path);
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let walks = folders.iter().map(|folder| {
        let walk = WalkDir::new(folder).follow_links(true);
        walk.sort_by_file_name().into_iter().flatten()
    });
    for entry in walks.flatten() {
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

/// What runs with the programs at a path: of an installation of PostgreSQL its libraries as well. A folder `lib` without them is something
/// else, as that of a repository whose programs are in `bin`.
fn installation_of(path: &Path) -> Vec<PathBuf> {
    let around = path.parent().filter(|_| path.ends_with("bin"));
    let has_libraries = |around: &&Path| {
        let mut names = around.join("lib").read_dir().into_iter().flatten().flatten();
        names.any(|entry| {
            let name = entry.file_name();
            name == "postgresql" || name.to_string_lossy().starts_with("libpq.")
        })
    };
    match around.filter(has_libraries) {
        Some(around) => ["bin", "lib", "share"]
            .map(|name| around.join(name))
            .into_iter()
            .filter(|folder| folder.is_dir())
            .collect(),
        None => vec![path.to_owned()],
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
        std::fs::write(path("lib/libpq.so.5"), "trusted").unwrap();
        let with_libraries = stamp_program(&path("bin"));
        std::fs::write(path("lib/libcrypto.so.3"), "hostile").unwrap();
        assert_ne!(stamp_program(&path("bin")), with_libraries);
    }

    /// The repository changes with each command that Git runs.
    #[test]
    fn gw_109_a_folder_lib_of_a_repository_is_no_part_of_the_programs_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["bin", "lib", ".git"] {
            std::fs::create_dir(path(name)).unwrap();
        }
        std::fs::write(path("bin/postgres"), "trusted").unwrap();
        let before = stamp_program(&path("bin"));

        std::fs::write(path("lib/index.js"), "").unwrap();
        std::fs::write(path(".git/index"), "").unwrap();

        assert_eq!(stamp_program(&path("bin")), before);
    }
}
