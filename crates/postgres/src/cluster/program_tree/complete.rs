//! The list of the files of a tree or a template, written when all of them are there. One without it, or with a file of another size, is not used: a power
//! failure or a full disk may have left it so, and nothing else would make it anew.

use std::{
    collections::BTreeSet,
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// The file of a tree whose lock every process of a cluster holds that runs from it. A list of processes would not do: a container sees its
/// own ones, and may share the folder with others.
pub(super) const LOCK_FILE: &str = "in-use";

/// The file with the list: one line for each file, its size and its path in the tree.
const FILE: &str = "complete";

/// Writes the list into a tree. It is the last file of one.
pub(crate) fn record_files(tree: &Path) -> io::Result<()> {
    let lines: Vec<String> = list_files(tree)?.into_iter().collect();
    let list = tree.join(FILE);
    std::fs::write(&list, lines.join("\n") + "\n")?;
    // The umask may have taken rights away.
    std::fs::set_permissions(list, std::fs::Permissions::from_mode(0o644))
}

/// Whether a tree has every file of its list, each with the size that it had.
pub(crate) fn is_complete(tree: &Path) -> bool {
    let Ok(recorded) = std::fs::read_to_string(tree.join(FILE)) else {
        return false;
    };
    // The last line of a list that was cut off has no end.
    recorded.ends_with('\n')
        && list_files(tree).is_ok_and(|found| recorded.lines().all(|line| found.contains(line)))
}

/// Whether the folder `copy` has every file of the list that is below the folder `part` of the tree.
pub(crate) fn is_copy_complete(tree: &Path, part: &str, copy: &Path) -> bool {
    let (Ok(recorded), Ok(found)) = (std::fs::read_to_string(tree.join(FILE)), list_files(copy)) else {
        return false;
    };
    let mut of_part = recorded.lines().filter_map(|line| {
        let (size, path) = line.split_once(' ')?;
        let path = Path::new(path).strip_prefix(part).ok()?;
        Some(format!("{size} {}", path.display()))
    });
    of_part.all(|line| found.contains(&line))
}

fn list_files(tree: &Path) -> io::Result<BTreeSet<String>> {
    let (mut lines, mut folders) = (BTreeSet::new(), vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(tree.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && path != Path::new(FILE) && path != Path::new(LOCK_FILE) {
                lines.insert(format!("{} {}", entry.metadata()?.len(), path.display()));
            }
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_028_a_tree_is_complete_while_every_file_has_the_size_that_it_was_made_with() {
        let folder = tempfile::tempdir().expect("a folder");
        let tree = folder.path();
        std::fs::create_dir_all(tree.join("lib/bin")).expect("made");
        for (name, text) in [
            ("lib/bin/postgres", "program"),
            ("lib/empty", ""),
            (LOCK_FILE, ""),
        ] {
            std::fs::write(tree.join(name), text).expect("written");
        }
        assert!(!is_complete(tree), "nobody has finished it");
        record_files(tree).expect("written");
        assert!(is_complete(tree));
        std::fs::write(tree.join("added"), "").expect("written");
        assert!(is_complete(tree), "it lacks nothing");

        let list = std::fs::read_to_string(tree.join(FILE)).expect("a list");
        std::fs::write(tree.join(FILE), list.trim_end()).expect("written");
        assert!(!is_complete(tree), "the list itself is cut off");
        std::fs::write(tree.join(FILE), list).expect("written");
        std::fs::write(tree.join("lib/bin/postgres"), "").expect("emptied");
        assert!(!is_complete(tree));
        std::fs::remove_file(tree.join("lib/bin/postgres")).expect("removed");
        assert!(!is_complete(tree));
    }
}
