//! One file of the migrations folder.

use std::path::{Path, PathBuf};

use selvedge_project_files::{MAX_SCRIPT_BYTES, read_text};

use super::error::MigrateError;
use super::file_names::is_version;

/// A file of the migrations folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    /// The digits before the first `_`.
    pub version: String,
    /// The part of the file name between the first `_` and `.sql`; may be empty.
    pub name: String,
    /// Path of the SQL file.
    pub path: PathBuf,
}

/// The migration of a file of the folder; `None` for a name that no migration has.
pub(super) fn parse_file_name(folder: &Path, file: &str) -> Option<Migration> {
    let (version, name) = file.strip_suffix(".sql")?.split_once('_')?;
    let is_plain = is_version(version) && !name.contains(['/', '\\', '\0']);
    is_plain.then(|| Migration {
        version: version.to_owned(),
        name: name.to_owned(),
        path: folder.join(file),
    })
}

/// The text of a file, which must be a regular one of at most 128 MiB, in UTF-8.
pub(crate) fn read_file(path: &Path) -> Result<String, MigrateError> {
    read_text(path, MAX_SCRIPT_BYTES).map_err(MigrateError::file(path))
}
