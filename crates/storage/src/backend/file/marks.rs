//! Marks of databases in a folder: one file for each, named as the database.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use super::folders::{BlobFolders, stat_of};
use crate::backend::claimed_folder::create_private;

fn folder(folders: &BlobFolders) -> PathBuf {
    folders.root.join("owners")
}

/// The file of a mark.
///
/// # Errors
/// When the name would lead out of the folder.
fn path(folders: &BlobFolders, owner: &str) -> io::Result<PathBuf> {
    if !is_mark(owner) {
        return Err(io::Error::other(format!("{owner:?} cannot name a mark")));
    }
    Ok(folder(folders).join(owner))
}

/// Whether a file of this name may be a mark. A file manager or a network file system leaves others, which name no database.
fn is_mark(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// The names of all marks.
pub(super) fn list_marks(folders: &BlobFolders) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder(folders)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // One that is being written has a further ending.
        if is_mark(&name) && entry.file_type()?.is_file() {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// See [`Backend::read_mark`](crate::backend::Backend::read_mark).
pub(super) fn read_mark(folders: &BlobFolders, owner: &str) -> io::Result<Option<String>> {
    match fs::read_to_string(path(folders, owner)?) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// See [`Backend::write_mark`](crate::backend::Backend::write_mark).
pub(super) fn write_mark(folders: &BlobFolders, owner: &str, text: &str) -> io::Result<()> {
    create_private(&folder(folders))?;
    let path = path(folders, owner)?;
    let written = path.with_extension("new");
    fs::write(&written, text)?;
    fs::rename(written, path)
}

/// See [`Backend::date_mark`](crate::backend::Backend::date_mark).
pub(super) fn date_mark(folders: &BlobFolders, owner: &str) -> io::Result<SystemTime> {
    Ok(stat_of(&fs::metadata(path(folders, owner)?)?)?.modified)
}

/// See [`Backend::remove_other_marks`](crate::backend::Backend::remove_other_marks).
pub(super) fn remove_other_marks(folders: &BlobFolders, owner: &str) -> io::Result<Vec<String>> {
    let mut names = list_marks(folders)?;
    names.retain(|name| name != owner);
    for name in &names {
        fs::remove_file(folder(folders).join(name))?;
    }
    Ok(names)
}
