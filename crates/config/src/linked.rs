//! The database to which a project is linked: `selvedge link` writes its address, and `--linked` reads it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use selvedge_project_files::{MAX_SETTINGS_BYTES, read_text};

/// The file in the project's folder. The Supabase CLI keeps its link in the same folder, which its `.gitignore` lists.
const FILE: &str = ".temp/database-url";

/// Returns the file with the address, which may be missing.
pub fn link_file(project_folder: &Path) -> PathBuf {
    project_folder.join(FILE)
}

/// Reads the address; `None` when the project is not linked.
///
/// # Errors
/// When the file is there and cannot be read.
pub fn read_link(project_folder: &Path) -> Result<Option<SecretString>, String> {
    let file = link_file(project_folder);
    match read_text(&file, MAX_SETTINGS_BYTES) {
        Ok(text) => Ok(Some(text.trim().to_owned().into())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot read {}: {error}", file.display())),
    }
}

/// Reads the address for `--linked`.
///
/// # Errors
/// When the project is not linked.
pub(super) fn require_link(project_folder: &Path) -> Result<SecretString, String> {
    read_link(project_folder)?.ok_or_else(|| {
        "--linked: the project is linked to no database\n  link it:  selvedge link --db-url URL".to_owned()
    })
}
