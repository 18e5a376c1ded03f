//! Copies folders of an installation into a program tree.
//!
//! A running cluster loads libraries, scripts and time zones with each new connection. A package manager exchanges them for those of a newer
//! version, which a program of the older one cannot load, so links into the installation would break the cluster until its restart.

use std::{
    fs, io,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use super::location::create_folder;

/// Folders that PostgreSQL does not read: code for its compiler, which is off (`jit`), files for building extensions, and texts.
const UNREAD_FOLDERS: [&str; 6] = ["bitcode", "pgxs", "pkgconfig", "cmake", "man", "doc"];

/// How deep folders are followed; those of an installation are two deep, and a link may lead back to its own parent.
const DEEPEST: usize = 6;

/// Whether PostgreSQL may read a file while it runs. The compiler's library is left out, because it needs another of 100 MB.
fn is_read(name: &str) -> bool {
    let is_compiler = name.starts_with("llvmjit");
    let is_static = Path::new(name)
        .extension()
        .is_some_and(|extension| extension == "a");
    !is_compiler && !is_static
}

/// A file, or a link to a file in the same folder.
enum Entry {
    File(PathBuf),
    Link { name: PathBuf, target: PathBuf },
    Folder(PathBuf),
}

fn list_entries(folder: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        // Links are followed, because Homebrew links each file, and Debian the dictionaries of other packages.
        let Ok(meta) = fs::metadata(&path) else {
            continue;
        };
        let target = fs::read_link(&path).ok();
        let neighbour = target.filter(|target| target.file_name() == Some(target.as_os_str()));
        match neighbour {
            _ if meta.is_dir() && UNREAD_FOLDERS.contains(&name.as_str()) => {}
            _ if meta.is_dir() => entries.push(Entry::Folder(path)),
            _ if !meta.is_file() || !is_read(&name) => {}
            Some(target) => entries.push(Entry::Link { name: path, target }),
            None => entries.push(Entry::File(path)),
        }
    }
    Ok(entries)
}

/// Lists the files that [`copy_folder`] copies, also those of folders in it.
pub(super) fn list_copied_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fn list(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
        for entry in list_entries(folder)? {
            match entry {
                Entry::File(path) | Entry::Link { name: path, .. } => files.push(path),
                Entry::Folder(path) if depth < DEEPEST => list(&path, depth + 1, files)?,
                Entry::Folder(_) => {}
            }
        }
        Ok(())
    }
    let mut files = Vec::new();
    list(folder, 0, &mut files)?;
    Ok(files)
}

/// Copies what PostgreSQL reads from `folder` into the new folder `target`.
pub(super) fn copy_folder(folder: &Path, target: &Path) -> io::Result<()> {
    copy_below(folder, target, 0)
}

fn copy_below(folder: &Path, target: &Path, depth: usize) -> io::Result<()> {
    create_folder(target)?;
    for entry in list_entries(folder)? {
        match entry {
            Entry::File(path) => copy_file(&path, &target.join(path.file_name().unwrap_or_default()))?,
            Entry::Link { name, target: link } => {
                symlink(link, target.join(name.file_name().unwrap_or_default()))?;
            }
            Entry::Folder(path) if depth < DEEPEST => {
                copy_below(
                    &path,
                    &target.join(path.file_name().unwrap_or_default()),
                    depth + 1,
                )?;
            }
            Entry::Folder(_) => {}
        }
    }
    Ok(())
}

/// Copies a file, which everybody may read and this user alone may write.
pub(super) fn copy_file(file: &Path, target: &Path) -> io::Result<()> {
    fs::copy(file, target)?;
    let is_program = fs::metadata(target)?.permissions().mode() & 0o111 != 0;
    let mode = if is_program { 0o755 } else { 0o644 };
    fs::set_permissions(target, fs::Permissions::from_mode(mode))
}
