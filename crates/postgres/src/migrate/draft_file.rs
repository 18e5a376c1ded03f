//! The file of a migration that is applied for the first time.
//!
//! It is written under a hidden name, which migrations ignore, and gets its real name just before the commit. If the process
//! dies at any moment, folder and history agree, or the next start finds a pending file.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::error::MigrateError;
use super::migration_file::Migration;

/// The extension of hidden names. Files that begin with a dot are not migrations for this program and for the Supabase CLI.
const DRAFT_ENDING: &str = ".sql.draft";

/// A migration's file under its hidden name, which is deleted when this is dropped before it was published.
#[derive(Debug)]
pub struct DraftFile {
    hidden: PathBuf,
    path: PathBuf,
    is_published: bool,
}

impl DraftFile {
    /// Writes the text to the disk, and removes what processes that died have left behind.
    ///
    /// # Errors
    /// [`MigrateError::File`] when the folder or the file cannot be written.
    pub fn write(migration: &Migration, text: &str) -> Result<Self, MigrateError> {
        let path = migration.path.clone();
        let folder = folder_of(&path);
        fs::create_dir_all(folder).map_err(MigrateError::file(folder))?;
        remove_old_drafts(folder);
        let hidden = folder.join(format!(".{}_{}{DRAFT_ENDING}", migration.version, migration.name));
        let draft = Self {
            hidden,
            path,
            is_published: false,
        };
        write_to_disk(&draft.hidden, text).map_err(MigrateError::file(&draft.hidden))?;
        Ok(draft)
    }

    /// Gives the file its real name. A file that has this name already is not replaced.
    ///
    /// # Errors
    /// [`MigrateError::File`] when the name is taken or the folder cannot be written.
    pub fn publish(&mut self) -> Result<(), MigrateError> {
        if fs::symlink_metadata(&self.path).is_ok() {
            return Err(MigrateError::file(&self.path)(Error::from(
                ErrorKind::AlreadyExists,
            )));
        }
        fs::rename(&self.hidden, &self.path).map_err(MigrateError::file(&self.path))?;
        self.is_published = true;
        // The new name must be on the disk before the commit is, or a power failure could leave a history row without a file.
        let folder = folder_of(&self.path);
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| {
            // The caller gives the change up, so the next start must not find its file.
            fs::remove_file(&self.path).ok();
            MigrateError::file(folder)(error)
        })
    }

    /// Takes the published file back, because PostgreSQL has refused the commit.
    ///
    /// # Errors
    /// [`MigrateError::File`] when it cannot be deleted.
    pub fn withdraw(self) -> Result<(), MigrateError> {
        fs::remove_file(&self.path).map_err(MigrateError::file(&self.path))
    }
}

impl Drop for DraftFile {
    fn drop(&mut self) {
        if !self.is_published {
            // A draft that cannot be deleted is hidden, and the next migration tries it again.
            fs::remove_file(&self.hidden).ok();
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

fn write_to_disk(path: &Path, text: &str) -> Result<(), Error> {
    let mut file = File::create_new(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Only one process at a time applies migrations of a folder, so an existing draft was left by a process that died.
fn remove_old_drafts(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(DRAFT_ENDING) {
            fs::remove_file(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::discover_migrations;
    use super::*;

    fn migration(folder: &Path) -> Migration {
        Migration {
            version: "20260101000000".into(),
            name: "add_notes".into(),
            path: folder.join("20260101000000_add_notes.sql"),
        }
    }

    #[test]
    fn console_071_a_draft_is_no_migration_until_it_is_published() {
        let folder = tempfile::tempdir().expect("a folder");
        let migration = migration(folder.path());
        let count = || {
            let found = discover_migrations(folder.path()).expect("a listing");
            assert_eq!(found.warnings, [] as [String; 0]);
            found.migrations.len()
        };

        let mut draft = DraftFile::write(&migration, "select 1;\n").expect("a draft");
        assert_eq!(count(), 0);
        draft.publish().expect("a published file");
        drop(draft);

        assert_eq!(count(), 1);
        assert_eq!(fs::read_to_string(&migration.path).expect("text"), "select 1;\n");
    }

    #[test]
    fn console_071_drafts_of_dead_processes_go_and_foreign_files_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let migration = migration(folder.path());
        fs::write(folder.path().join(".20250101000000_old.sql.draft"), "x").expect("an old draft");
        fs::write(&migration.path, "mine").expect("a file with the same name");

        let mut draft = DraftFile::write(&migration, "other").expect("a draft");
        assert!(draft.publish().is_err());
        drop(draft);

        let left = fs::read_dir(folder.path()).expect("a listing").count();
        assert_eq!(left, 1);
        assert_eq!(fs::read_to_string(&migration.path).expect("text"), "mine");
    }
}
