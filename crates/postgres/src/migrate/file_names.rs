//! Names files after what a database or a person says, and writes them. A name from elsewhere must not lead out of the folder,
//! and what is there already is not written over.

use std::fs::{File, Metadata, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use super::error::MigrateError;

/// Most bytes of a name, so that file systems accept it with the version and `.sql`.
const LONGEST: usize = 200;

/// Whether a text is the version of a migration: digits and nothing else.
pub(super) fn is_version(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Where a migration of this version and name is. A name may have anything in it, as the history of another program does:
/// what is not a letter, a digit, `_`, `.` or `-` becomes `_`, and a long name is cut. Names that become equal stay apart by
/// their versions.
///
/// # Errors
/// [`MigrateError::HistoryVersion`] for a version that is not digits, or has too many of them.
pub(super) fn migration_path(folder: &Path, version: &str, name: &str) -> Result<PathBuf, MigrateError> {
    if !is_version(version) || version.len() >= LONGEST {
        return Err(MigrateError::HistoryVersion(
            version.chars().take(LONGEST).collect(),
        ));
    }
    let mut file = format!("{version}_");
    for char in name.chars() {
        let is_plain = char.is_alphanumeric() || "_.-".contains(char);
        let char = if is_plain { char } else { '_' };
        if file.len() + char.len_utf8() > LONGEST {
            break;
        }
        file.push(char);
    }
    Ok(folder.join(format!("{file}.sql")))
}

/// Writes a file that must not exist. It appears under its name when it is complete; a link of that name is not followed.
///
/// # Errors
/// When it exists or cannot be written.
pub fn write_new_file(path: &Path, text: &str) -> Result<(), MigrateError> {
    let written = write_beside(path, text, None)?;
    written
        .persist_noclobber(path)
        .map_err(|error| MigrateError::file(path)(error.error))?;
    Ok(())
}

/// Replaces a file, or writes a new one. Whoever reads it finds the old text or the new one, and no part of either. Who may read it stays
/// as it was: it may have secrets.
///
/// # Errors
/// When it cannot be written; the old text stays then.
pub fn replace_file(path: &Path, text: &str) -> Result<(), MigrateError> {
    let replaced = path.symlink_metadata().ok().filter(Metadata::is_file);
    let written = write_beside(path, text, replaced.as_ref())?;
    written
        .persist(path)
        .map_err(|error| MigrateError::file(path)(error.error))?;
    Ok(())
}

/// Writes a text beside a file, with mode and owner of the file that it will replace.
fn write_beside(
    path: &Path,
    text: &str,
    replaced: Option<&Metadata>,
) -> Result<tempfile::NamedTempFile, MigrateError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".unfinished-")
        // A new one is as other files of the project; the process's umask applies.
        .permissions(Permissions::from_mode(if replaced.is_some() {
            0o600
        } else {
            0o666
        }))
        .tempfile_in(folder)
        .map_err(MigrateError::file(path))?;
    if let Some(replaced) = replaced {
        keep_access(file.as_file(), replaced).map_err(MigrateError::file(path))?;
    }
    file.write_all(text.as_bytes())
        .and_then(|()| file.as_file().sync_all())
        .map_err(MigrateError::file(path))?;
    Ok(file)
}

/// Gives a file owner, group and mode of another one. Only root can give a file away: otherwise it is the process's, and without the old
/// group the new one gets no rights.
fn keep_access(file: &File, of: &Metadata) -> std::io::Result<()> {
    let has_group =
        fchown(file, Some(of.uid()), Some(of.gid())).is_ok() || fchown(file, None, Some(of.gid())).is_ok();
    let mode = if has_group { of.mode() } else { of.mode() & !0o070 };
    file.set_permissions(Permissions::from_mode(mode & 0o777))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_keeps_mode_and_owner() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config.toml");
        for mode in [0o600, 0o640, 0o664] {
            std::fs::write(&path, "old").expect("written");
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("changed");
            // Root alone can do this.
            let has_owner = std::os::unix::fs::chown(&path, Some(65534), Some(65534)).is_ok();

            replace_file(&path, "new").expect("replaced");

            let found = path.metadata().expect("there");
            assert_eq!(found.mode() & 0o777, mode);
            assert_eq!(found.uid() == 65534 && found.gid() == 65534, has_owner);
        }
    }

    #[test]
    fn names_of_a_database_stay_in_the_folder() {
        let folder = Path::new("/p/migrations");

        let path = migration_path(folder, "20300101000000", "add_größe.v-2").expect("a name");
        assert_eq!(path, Path::new("/p/migrations/20300101000000_add_größe.v-2.sql"));
        migration_path(folder, "1", "").expect("a name");
        for (name, file) in [
            ("add likes", "1_add_likes.sql"),
            ("../../etc/x", "1_.._.._etc_x.sql"),
            ("a\\b\n\0c", "1_a_b__c.sql"),
            ("", "1_.sql"),
        ] {
            let path = migration_path(folder, "1", name).expect("a name");
            assert_eq!(path, folder.join(file), "{name:?}");
        }
        for version in ["/abs/20300101000000", "../1", "", "1 "] {
            let refused = migration_path(folder, version, "x");
            assert!(
                matches!(refused, Err(MigrateError::HistoryVersion(_))),
                "{version}"
            );
        }
    }

    #[test]
    fn a_long_name_of_a_database_is_cut_between_letters() {
        let path = migration_path(Path::new("/p"), "20300101000000", &"ö".repeat(300)).expect("a name");

        let name = path.file_name().expect("a file").to_str().expect("text");
        assert_eq!(name, format!("20300101000000_{}.sql", "ö".repeat(92)));
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
