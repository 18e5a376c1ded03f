//! Which files of a folder a Git repository tracks, read from its index.
//!
//! A `git pull` writes tracked files. What it can write below a data folder would be believed, and what it can write below `node_modules`
//! would run. Git itself is not asked, because the settings of a repository that came in an archive can make it run programs.
//!
//! An archive may bring a repository of its own, whose index leaves out what the archive has in `node_modules`. So an index says that nothing
//! is tracked only if Git has written it on this machine: it holds inode and time of the last change of each file, which nobody can put into
//! an archive. Whoever has let Git look at such a repository has run its programs already (`core.fsmonitor`).

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use selvedge_project_files::{MAX_SETTINGS_BYTES, read_file, read_text};

/// The most bytes of an index: about a hundred for each file, so those of the largest repositories have far less.
const MAX_INDEX_BYTES: u64 = 256 << 20;
/// Bytes of an entry before the hash of its content.
const STAT_BYTES: usize = 40;
/// Where the inode is among them.
const INODE_AT: usize = 20;
/// The most entries that are compared with their files. In a repository that is used, the first one agrees.
const MAX_COMPARED: usize = 10_000;
/// Bytes of the hash: SHA-1, SHA-256.
const HASH_BYTES: [usize; 2] = [20, 32];
/// The bit of an entry's flags that says that more flags follow.
const EXTENDED: u16 = 0x4000;

/// The first tracked file at `path` or below, relative to the repository's folder; `None` without a repository.
pub(super) fn find_tracked(path: &Path) -> Option<String> {
    let found = read_repository(path)?;
    let mut names = found.entries.into_iter().map(|entry| entry.name);
    names.find(|name| is_at_or_below(name, &found.inner))
}

/// Whether `file` is tracked by the repository in which `package` is.
pub(super) fn is_tracked_beside(file: &Path, package: &Path) -> bool {
    let (of_file, of_package) = (read_repository(file), read_repository(package));
    let (Some(of_file), Some(of_package)) = (of_file, of_package) else {
        return false;
    };
    let is_tracked = |entry: &Entry| is_at_or_below(&entry.name, &of_file.inner);
    of_file.folder == of_package.folder && of_file.entries.iter().any(is_tracked)
}

/// Whether a repository says that it tracks nothing at `path` or below. One whose index is missing, cannot be read, or was not written by Git
/// on this machine says nothing.
pub(super) fn is_untracked(path: &Path) -> bool {
    read_repository(path).is_some_and(|found| {
        let is_tracked = |entry: &Entry| is_at_or_below(&entry.name, &found.inner);
        !found.entries.iter().any(is_tracked) && found.is_of_this_machine()
    })
}

/// The repository around a path.
struct Repository {
    folder: PathBuf,
    entries: Vec<Entry>,
    /// The path in it.
    inner: String,
}

impl Repository {
    /// Whether Git has looked at the files here: an entry has the inode and the time of the file that it is about.
    fn is_of_this_machine(&self) -> bool {
        let mut entries = self.entries.iter().take(MAX_COMPARED);
        entries.any(|entry| {
            let path = self.folder.join(&entry.name);
            // Behind a link, the file may be one of another repository, which Git has looked at.
            let is_in_place = path
                .parent()
                .is_some_and(|parent| parent.canonicalize().is_ok_and(|real| real == parent));
            is_in_place && path.symlink_metadata().is_ok_and(|meta| entry.is_about(&meta))
        })
    }
}

fn read_repository(path: &Path) -> Option<Repository> {
    let parent = path.parent()?;
    let path = parent.canonicalize().ok()?.join(path.file_name()?);
    let repository = path
        .ancestors()
        .skip(1)
        .find(|folder| folder.join(".git").exists())?;
    let inner = path.strip_prefix(repository).ok()?.to_str()?.to_owned();
    let folder = find_git_folder(&repository.join(".git"))?;
    let index = parse_index(&read_file(&folder.join("index"), MAX_INDEX_BYTES).ok()?)?;
    // A split index has the entries that have changed since the file that it names was written.
    let shared = index.shared.and_then(|hash| {
        let bytes = read_file(&folder.join(format!("sharedindex.{hash}")), MAX_INDEX_BYTES).ok()?;
        parse_index(&bytes)
    });
    let shared = shared.into_iter().flat_map(|shared| shared.entries);
    Some(Repository {
        folder: repository.to_path_buf(),
        entries: index.entries.into_iter().chain(shared).collect(),
        inner,
    })
}

/// What is read of an index.
#[derive(Debug, Default)]
struct Index {
    entries: Vec<Entry>,
    /// Hash in the name of the file with the other entries, when the index is split.
    shared: Option<String>,
}

/// A tracked file, with what Git has seen of it.
#[derive(Debug)]
struct Entry {
    name: String,
    /// Seconds and nanoseconds of the last change of its inode.
    changed_at: (u32, u32),
    /// The lower half of the inode's number.
    inode: u32,
}

impl Entry {
    /// Whether this is what Git has noted of the file. An entry that says nothing is about no file.
    fn is_about(&self, meta: &Metadata) -> bool {
        let lower_half = |number: u64| u32::try_from(number & u64::from(u32::MAX)).ok();
        let changed_at = (
            u32::try_from(meta.ctime()).ok(),
            u32::try_from(meta.ctime_nsec()).ok(),
        );
        self.inode != 0
            && lower_half(meta.ino()) == Some(self.inode)
            && changed_at == (Some(self.changed_at.0), Some(self.changed_at.1))
    }
}

/// The folder that `.git` is, or names: a worktree or a submodule has a file there.
fn find_git_folder(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        return Some(path.to_path_buf());
    }
    let text = read_text(path, MAX_SETTINGS_BYTES).ok()?;
    let named = text.strip_prefix("gitdir:")?.trim();
    Some(path.parent()?.join(named))
}

/// Whether a tracked name is `inner` or below it. Without regard to case, because some file systems have none.
fn is_at_or_below(name: &str, inner: &str) -> bool {
    let matches = name
        .get(..inner.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(inner));
    matches && matches!(name.as_bytes().get(inner.len()), None | Some(b'/'))
}

/// An index of version 2, 3 or 4. Source: gitformat-index(5).
fn parse_index(index: &[u8]) -> Option<Index> {
    HASH_BYTES
        .into_iter()
        .find_map(|hash_bytes| parse_entries(index, hash_bytes))
}

fn parse_entries(index: &[u8], hash_bytes: usize) -> Option<Index> {
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let version = number(4).filter(|version| index.starts_with(b"DIRC") && (2..=4).contains(version))?;
    let count = number(8)?;
    let (mut at, mut name) = (12, Vec::new());
    let mut entries = Vec::new();
    for _ in 0..count {
        let start = at;
        at += STAT_BYTES + hash_bytes;
        let flags = u16::from_be_bytes(index.get(at..at + 2)?.try_into().ok()?);
        at += if flags & EXTENDED == 0 { 2 } else { 4 };
        if version == 4 {
            // The name begins as the one before it, without this many of its last bytes.
            let (removed, length) = parse_offset(index.get(at..)?)?;
            name.truncate(name.len().checked_sub(removed)?);
            at += length;
        } else {
            name.clear();
        }
        let length = index.get(at..)?.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(&index[at..at + length]);
        at += length + 1;
        if version < 4 {
            at = start + (at - start).next_multiple_of(8);
        }
        // Entries of a split index that replace shared ones have no name.
        if !name.is_empty() {
            entries.push(Entry {
                name: String::from_utf8_lossy(&name).into_owned(),
                changed_at: (number(start)?, number(start + 4)?),
                inode: number(start + INODE_AT)?,
            });
        }
    }
    let shared = find_link(index.get(at..)?, hash_bytes);
    Some(Index { entries, shared })
}

/// The hash in the extension `link`, among the extensions behind the entries.
fn find_link(mut extensions: &[u8], hash_bytes: usize) -> Option<String> {
    while extensions.len() > hash_bytes {
        let (head, rest) = extensions.split_at_checked(8)?;
        let length = u32::from_be_bytes(head[4..].try_into().ok()?) as usize;
        let (data, rest) = rest.split_at_checked(length)?;
        if head.starts_with(b"link") {
            return Some(hex::encode(data.get(..hash_bytes)?));
        }
        extensions = rest;
    }
    None
}

/// A number as in the offsets of packs, and how many bytes it has.
fn parse_offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (index, byte) in bytes.iter().enumerate().take(9) {
        value = (value << 7) | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
        value += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(folder: &Path, arguments: &[&str]) {
        let output = Command::new("git")
            .arg("-C")
            .arg(folder)
            .args(arguments)
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    #[test]
    fn gw_109_tracked_files_are_found_in_every_version_of_the_index() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("apps/shop");
        for name in [
            ".selvedge/pgdata/postgresql.auto.conf",
            "src/a-long-name.ts",
            "src/a-long-number.ts",
        ] {
            let path = project.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let find = |name: &str| find_tracked(&project.join(name));
        let without = find(".selvedge");
        git(folder.path(), &["init", "--quiet"]);
        git(folder.path(), &["add", "apps/shop/src"]);
        let untracked = find(".selvedge");
        git(folder.path(), &["add", "--force", "."]);

        assert_eq!((without, untracked), (None, None));
        for version in ["2", "3", "4"] {
            git(folder.path(), &["update-index", "--index-version", version]);
            let tracked = "apps/shop/.selvedge/pgdata/postgresql.auto.conf";
            assert_eq!(find(".selvedge").as_deref(), Some(tracked), "version {version}");
            assert_eq!(
                find("src/a-long-number.ts").as_deref(),
                Some("apps/shop/src/a-long-number.ts")
            );
            assert_eq!(find("src/a-long"), None);
        }
        git(folder.path(), &["update-index", "--split-index"]);
        assert!(find(".selvedge").is_some());
        git(folder.path(), &["update-index", "--no-split-index"]);
        git(
            folder.path(),
            &["rm", "-r", "--quiet", "--cached", "apps/shop/.selvedge"],
        );
        assert_eq!(find(".selvedge"), None);
    }

    #[test]
    fn gw_109_an_index_that_came_with_its_folder_says_nothing() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let package = |clone: &str| root.join(clone).join("node_modules/deno");
        std::fs::create_dir_all(root.join("clone/src")).unwrap();
        std::fs::create_dir_all(package("clone")).unwrap();
        std::fs::write(root.join("clone/src/a.ts"), "").unwrap();
        git(&root.join("clone"), &["init", "--quiet"]);
        git(&root.join("clone"), &["add", "src"]);
        let copy = |name: &str| {
            let copied = Command::new("cp")
                .args(["-a"])
                .args([root.join("clone"), root.join(name)])
                .status();
            assert!(copied.expect("cp runs").success());
        };
        copy("unpacked");
        // The file of a repository in which Git has been, by a link.
        copy("linked");
        std::fs::remove_dir_all(root.join("linked/src")).unwrap();
        std::os::unix::fs::symlink("../clone/src", root.join("linked/src")).unwrap();

        let says = |clone: &str| is_untracked(&package(clone));
        assert_eq!(["clone", "unpacked", "linked"].map(says), [true, false, false]);
        // Its owner has looked at it with Git.
        git(&root.join("unpacked"), &["status", "--short"]);
        assert!(says("unpacked"));
        for version in ["2", "3", "4"] {
            git(&root.join("clone"), &["update-index", "--index-version", version]);
            assert!(says("clone"), "version {version}");
        }
        git(&root.join("clone"), &["update-index", "--split-index"]);
        assert!(says("clone"));
    }
}
