//! Snippets as files `snippets/NAME.sql` of the project, which the repository keeps with the project.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use super::snippet::{Base, MAX_TEXT_BYTES, Snippet, check_name, digest_of, not_found, overtaken};
use crate::error::ConsoleError;

/// The ending of the files, without the dot.
const EXTENSION: &str = "sql";

/// Lists the files of the folder. Links and files with other endings or odd names are left out.
pub(super) fn list(folder: &Path) -> Result<Vec<Snippet>, ConsoleError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(&error)),
    };
    let mut snippets = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| failed(&error))?;
        let path = entry.path();
        let name = path
            .file_stem()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let is_snippet = path.extension().is_some_and(|ending| ending == EXTENSION);
        // A file that was removed since the folder was read has no metadata any more.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        if !is_snippet || !metadata.is_file() || check_name(name).is_err() {
            continue;
        }
        snippets.push(Snippet {
            name: name.to_owned(),
            text: None,
            digest: None,
            updated_at: metadata.modified().map_err(|error| failed(&error))?.into(),
        });
    }
    snippets.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(snippets)
}

/// Reads a file.
pub(super) fn read(folder: &Path, name: &str) -> Result<Snippet, ConsoleError> {
    let path = find_file(folder, name)?;
    let file = File::open(&path).map_err(|error| missing_or_failed(name, &error))?;
    let metadata = file.metadata().map_err(|error| failed(&error))?;
    let mut bytes = Vec::new();
    // The limit holds while reading, too, because the file may grow meanwhile.
    file.take(MAX_TEXT_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| failed(&error))?;
    if bytes.len() > MAX_TEXT_BYTES {
        return Err(ConsoleError::invalid("The file has more than 1 MB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| ConsoleError::invalid("The file is not UTF-8"))?;
    Ok(Snippet {
        name: name.to_owned(),
        digest: Some(digest_of(&text)),
        text: Some(text),
        updated_at: metadata.modified().map_err(|error| failed(&error))?.into(),
    })
}

/// Held while a file is compared with what its page had read, and written or removed, so that no save loses another. An editor on
/// the same file does not take it: what it writes between comparison and change, a few microseconds, is lost.
static CHANGING: Mutex<()> = Mutex::new(());

/// Writes a file over its base. A crash leaves either the old text or the new one.
///
/// # Errors
/// 409 when the file has another text than the base.
pub(super) fn save(folder: &Path, name: &str, text: &str, base: &Base) -> Result<(), ConsoleError> {
    let file = write_beside(folder, text).map_err(|error| failed(&error))?;
    let path = path_of(folder, name);
    let _one = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    // The new file takes the name, so a link of this name is replaced and never followed.
    let written = match base {
        Base::Anything => file.persist(path),
        Base::Nothing => file.persist_noclobber(path),
        Base::Digest(digest) => {
            if !has_digest(folder, name, digest) {
                return Err(overtaken(name));
            }
            file.persist(path)
        }
    };
    written.map(drop).map_err(|failure| match failure.error.kind() {
        ErrorKind::AlreadyExists => overtaken(name),
        _ => failed(&failure.error),
    })
}

/// Writes a text to a file of the folder that has no name of a snippet yet.
fn write_beside(folder: &Path, text: &str) -> io::Result<NamedTempFile> {
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".snippet-")
        .permissions(fs::Permissions::from_mode(0o644))
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Removes a file, or only one whose text has this digest.
///
/// # Errors
/// 404 when there is none, and 409 when it has another text.
pub(super) fn delete(folder: &Path, name: &str, digest: Option<&str>) -> Result<(), ConsoleError> {
    let _one = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    let path = find_file(folder, name)?;
    if digest.is_some_and(|digest| !has_digest(folder, name, digest)) {
        return Err(overtaken(name));
    }
    fs::remove_file(path).map_err(|error| missing_or_failed(name, &error))
}

/// Whether the file can be read and its text has this digest.
fn has_digest(folder: &Path, name: &str, digest: &str) -> bool {
    read(folder, name).is_ok_and(|snippet| snippet.digest.as_deref() == Some(digest))
}

/// Returns the path of a file that exists. A link is refused, because it could lead out of the project.
fn find_file(folder: &Path, name: &str) -> Result<PathBuf, ConsoleError> {
    let path = path_of(folder, name);
    let metadata = fs::symlink_metadata(&path).map_err(|error| missing_or_failed(name, &error))?;
    if !metadata.is_file() {
        return Err(not_found(name));
    }
    Ok(path)
}

fn path_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.{EXTENSION}"))
}

fn missing_or_failed(name: &str, error: &io::Error) -> ConsoleError {
    match error.kind() {
        ErrorKind::NotFound => not_found(name),
        _ => failed(error),
    }
}

fn failed(error: &io::Error) -> ConsoleError {
    ConsoleError::unavailable(format!("The folder of snippets cannot be used: {error}"))
}
