//! Names files after what a database or a person says, and writes them. A name from elsewhere must not lead out of the folder,
//! and what is there already is not written over.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::error::MigrateError;

/// Most bytes of a name, so that file systems accept it with the version and `.sql`.
const LONGEST: usize = 200;

/// Where a migration of this version and name is.
///
/// # Errors
/// [`MigrateError::ForeignName`] for a version that is not digits, or a name with anything but letters, digits, `_`, `.` and
/// `-`.
pub(super) fn migration_path(folder: &Path, version: &str, name: &str) -> Result<PathBuf, MigrateError> {
    let is_version = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = name
        .chars()
        .all(|char| char.is_alphanumeric() || "_.-".contains(char));
    if !is_version || !is_name || version.len() + name.len() > LONGEST {
        return Err(MigrateError::ForeignName {
            name: format!("{version}_{name}").chars().take(LONGEST).collect(),
        });
    }
    Ok(folder.join(format!("{version}_{name}.sql")))
}

/// Writes a file that must not exist. It appears under its name when it is complete; a link of that name is not followed.
///
/// # Errors
/// When it exists or cannot be written.
pub fn write_new_file(path: &Path, text: &str) -> Result<(), MigrateError> {
    let written = write_beside(path, text)?;
    written
        .persist_noclobber(path)
        .map_err(|error| MigrateError::file(path)(error.error))?;
    Ok(())
}

/// Replaces a file, or writes a new one. Whoever reads it finds the old text or the new one, and no part of either.
///
/// # Errors
/// When it cannot be written; the old text stays then.
pub fn replace_file(path: &Path, text: &str) -> Result<(), MigrateError> {
    let written = write_beside(path, text)?;
    written
        .persist(path)
        .map_err(|error| MigrateError::file(path)(error.error))?;
    Ok(())
}

fn write_beside(path: &Path, text: &str) -> Result<tempfile::NamedTempFile, MigrateError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".unfinished-")
        // As other files of the project; the process's umask applies.
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(MigrateError::file(path))?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.as_file().sync_all())
        .map_err(MigrateError::file(path))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_database_stay_in_the_folder() {
        let folder = Path::new("/p/migrations");

        let path = migration_path(folder, "20300101000000", "add_größe.v-2").expect("a name");
        assert_eq!(path, Path::new("/p/migrations/20300101000000_add_größe.v-2.sql"));
        migration_path(folder, "1", "").expect("a name");
        for (version, name) in [
            ("/abs/20300101000000", "x"),
            ("../1", "x"),
            ("", "x"),
            ("1", "a/b"),
            ("1", "a\\b"),
            ("1", "a\nb"),
            ("1", "a\0b"),
            ("1", &"x".repeat(300)),
        ] {
            let refused = migration_path(folder, version, name);
            assert!(
                matches!(refused, Err(MigrateError::ForeignName { .. })),
                "{version} {name}"
            );
        }
    }

    #[test]
    fn a_new_file_replaces_nothing_and_follows_no_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let (kept, link) = (folder.path().join("kept"), folder.path().join("link"));
        std::fs::write(&kept, "old").expect("written");
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &link).expect("linked");

        assert!(write_new_file(&kept, "new").is_err());
        assert!(write_new_file(&link, "new").is_err());
        assert!(!folder.path().join("elsewhere").exists());
        assert_eq!(std::fs::read_to_string(&kept).expect("readable"), "old");
        replace_file(&kept, "new").expect("replaced");
        assert_eq!(std::fs::read_to_string(&kept).expect("readable"), "new");
        assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 2);
    }
}
