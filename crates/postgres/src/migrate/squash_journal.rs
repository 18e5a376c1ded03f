//! What a squash is about to do, in a hidden file of the migrations folder. The files and the history of a database cannot change at once,
//! so whoever finds the journal of a run that was cut off knows what is left to do.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::error::MigrateError;
use super::file_names::replace_file;
use super::migration_file::{Migration, parse_file_name, read_file};

const FILE: &str = ".unfinished-squash";

/// The migrations that one file replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SquashJournal {
    path: PathBuf,
    /// The file that gets the schema of all.
    pub last: Migration,
    /// The files that are deleted.
    pub older: Vec<Migration>,
}

impl SquashJournal {
    /// Notes that `last` gets `text`, and that `older` are deleted then. All are files of one folder.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(last: &Migration, older: &[Migration], text: &str) -> Result<Self, MigrateError> {
        let path = last.path.with_file_name(FILE);
        let mut lines = vec![hex::encode(Sha256::digest(text.as_bytes()))];
        lines.extend([last].into_iter().chain(older).map(file_name));
        replace_file(&path, &(lines.join("\n") + "\n"))?;
        Ok(Self {
            path,
            last: last.clone(),
            older: older.to_vec(),
        })
    }

    /// The journal of a run that was cut off after the last file had got its new text. Before that nothing has changed, and the journal
    /// counts for nothing.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn find(folder: &Path) -> Result<Option<Self>, MigrateError> {
        let path = folder.join(FILE);
        if !path.is_file() {
            return Ok(None);
        }
        let text = read_file(&path)?;
        let mut lines = text.lines();
        let digest = lines.next().unwrap_or_default();
        // Names that could lead out of the folder are no names of migrations.
        let mut files = lines.filter_map(|name| parse_file_name(folder, name));
        let Some(last) = files.next().filter(|last| last.path.is_file()) else {
            return Ok(None);
        };
        let is_replaced = hex::encode(Sha256::digest(read_file(&last.path)?.as_bytes())) == digest;
        Ok(is_replaced.then(|| Self {
            path,
            last,
            older: files.collect(),
        }))
    }

    /// Deletes the older files, as far as they are there.
    ///
    /// # Errors
    /// When one cannot be deleted.
    pub fn delete_older(&self) -> Result<(), MigrateError> {
        for migration in &self.older {
            remove(&migration.path)?;
        }
        Ok(())
    }

    /// Deletes the journal: everything is done.
    ///
    /// # Errors
    /// When it cannot be deleted.
    pub fn finish(self) -> Result<(), MigrateError> {
        remove(&self.path)
    }
}

fn file_name(migration: &Migration) -> String {
    let name = migration.path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn remove(path: &Path) -> Result<(), MigrateError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(MigrateError::file(path)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_counts_once_the_last_file_has_its_new_text_and_deletes_files_of_the_folder_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            parse_file_name(folder.path(), name).unwrap()
        };
        let (older, last) = (file("1_a.sql", "select 1"), file("2_b.sql", "select 2"));
        assert_eq!(SquashJournal::find(folder.path()).unwrap(), None);

        let written = SquashJournal::write(&last, std::slice::from_ref(&older), "select 3").unwrap();
        assert_eq!(
            SquashJournal::find(folder.path()).unwrap(),
            None,
            "nothing has changed"
        );
        std::fs::write(&last.path, "select 3").unwrap();
        assert_eq!(SquashJournal::find(folder.path()).unwrap(), Some(written.clone()));

        written.delete_older().unwrap();
        written.delete_older().unwrap();
        assert!(!older.path.exists() && last.path.exists());
        let outside = folder.path().with_extension("9_x.sql");
        std::fs::write(&outside, "").unwrap();
        let name = format!("../{}", outside.file_name().unwrap().to_string_lossy());
        let journal = std::fs::read_to_string(folder.path().join(FILE)).unwrap() + &name + "\n/1_x.sql\n";
        std::fs::write(folder.path().join(FILE), journal).unwrap();
        assert_eq!(SquashJournal::find(folder.path()).unwrap(), Some(written.clone()));
        std::fs::remove_file(outside).unwrap();
        written.finish().unwrap();
        assert_eq!(SquashJournal::find(folder.path()).unwrap(), None);
    }
}
