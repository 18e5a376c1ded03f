//! What a squash is about to do, in a hidden folder of the migrations folder that git ignores: it is about a database that others do not
//! have. The files and the history of a database cannot change at once,
//! so whoever finds the journal of a run that was cut off knows what is left to do.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::error::{HistoryConflict, MigrateError};
use super::file_names::replace_file;
use super::migration_file::{Migration, parse_file_name, read_file};

const FOLDER: &str = ".unfinished-squash";
const FILE: &str = "journal";
const IGNORE_FILE: &str = ".gitignore";

/// Stands for the database where no database has the migrations.
const NO_DATABASE: &str = "none";

/// Ends the line of digests once the last file has its new text.
const REPLACED: &str = "replaced";

/// Begins the line that names the database.
const DATABASE: &str = "database ";

/// The migrations that one file replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SquashJournal {
    /// Its own folder.
    folder: PathBuf,
    /// The database whose history has the one migration afterwards: what identifies it, a space, and its name for people. It is
    /// `none` when there was none.
    database: String,
    /// The file that gets the schema of all.
    pub last: Migration,
    /// The files that are deleted, with the SHA-256 of their texts.
    older: Vec<(Migration, String)>,
}

impl SquashJournal {
    /// Notes that `last` gets `text`, and that `older` are deleted then. All are files of one folder. `database` is what identifies the
    /// one whose history follows, and its name; `None` without one.
    ///
    /// # Errors
    /// When a file cannot be read, or the journal not written.
    pub fn write(
        last: &Migration,
        older: &[Migration],
        text: &str,
        database: Option<(&str, &str)>,
    ) -> Result<Self, MigrateError> {
        let folder = make_folder(&last.path.with_file_name(FOLDER))?;
        let database = match database {
            Some((identity, name)) => format!("{identity} {name}"),
            None => NO_DATABASE.to_owned(),
        };
        let digests = format!("{} {}", digest_of(text), digest_of(&read_file(&last.path)?));
        let mut lines = vec![digests, file_name(last), format!("{DATABASE}{database}")];
        let mut noted = Vec::with_capacity(older.len());
        for migration in older {
            let digest = digest_of(&read_file(&migration.path)?);
            lines.push(format!("{digest} {}", file_name(migration)));
            noted.push((migration.clone(), digest));
        }
        replace_file(&folder.join(FILE), &(lines.join("\n") + "\n"))?;
        Ok(Self {
            folder,
            database,
            last: last.clone(),
            older: noted,
        })
    }

    /// Notes that the last file has its new text: from now on the journal counts also when somebody writes to that file.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn mark_replaced(&self) -> Result<(), MigrateError> {
        let path = self.folder.join(FILE);
        let text = read_file(&path)?;
        let (digests, rest) = text.split_once('\n').unwrap_or((&text, ""));
        replace_file(&path, &format!("{digests} {REPLACED}\n{rest}"))
    }

    /// The journal of a run that was cut off after the last file had got its new text. Before that nothing has changed, and the journal
    /// counts for nothing, whatever becomes of the files later. Once older files are deleted it counts also when somebody has written to
    /// the last one since.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn find(folder: &Path) -> Result<Option<Self>, MigrateError> {
        let own_folder = folder.join(FOLDER);
        // An earlier version wrote the journal as a file of this name.
        let path = match is_folder(&own_folder) {
            true => own_folder.join(FILE),
            false => own_folder.clone(),
        };
        if !path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
            return Ok(None);
        }
        let text = read_file(&path)?;
        let mut lines = text.lines();
        let mut digests = lines.next().unwrap_or_default().split(' ');
        let [new, old, mark] = [(); 3].map(|()| digests.next().unwrap_or_default());
        // Names that could lead out of the folder are no names of migrations.
        let last = lines.next().and_then(|name| parse_file_name(folder, name));
        let Some(last) = last.filter(|last| last.path.is_file()) else {
            return Ok(None);
        };
        let database = lines.next().and_then(|line| line.strip_prefix(DATABASE));
        let database = database.unwrap_or_default().to_owned();
        let older = lines.filter_map(|line| {
            let (digest, name) = line.split_once(' ')?;
            Some((parse_file_name(folder, name)?, digest.to_owned()))
        });
        let older: Vec<(Migration, String)> = older.collect();
        let found = digest_of(&read_file(&last.path)?);
        let has_deleted = older.iter().any(|(migration, _)| !migration.path.is_file());
        let is_replaced = found == new || (mark == REPLACED && found != old && has_deleted);
        Ok(is_replaced.then_some(Self {
            folder: own_folder,
            database,
            last,
            older,
        }))
    }

    /// Whether no database has the migrations, so that only files are left to change.
    #[must_use]
    pub fn is_without_database(&self) -> bool {
        self.database == NO_DATABASE
    }

    /// Whether it was begun on the database of this identity.
    #[must_use]
    pub fn is_of(&self, identity: &str) -> bool {
        self.database.split(' ').next() == Some(identity)
    }

    /// The name of the database that it was begun on, for people.
    #[must_use]
    pub fn database_name(&self) -> &str {
        self.database.split_once(' ').map_or("", |(_, name)| name)
    }

    /// The journal's own folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The versions of the files that are deleted.
    #[must_use]
    pub fn older_versions(&self) -> Vec<String> {
        let versions = self.older.iter().map(|(migration, _)| migration.version.clone());
        versions.collect()
    }

    /// Refuses to go on when somebody has changed a file that would be deleted.
    ///
    /// # Errors
    /// [`HistoryConflict::ChangedSinceSquash`]; also when a file cannot be read.
    pub fn check_older(&self) -> Result<(), MigrateError> {
        for (migration, digest) in &self.older {
            if migration.path.is_file() && digest_of(&read_file(&migration.path)?) != *digest {
                return Err(HistoryConflict::ChangedSinceSquash {
                    file: migration.path.clone(),
                }
                .into());
            }
        }
        Ok(())
    }

    /// Deletes the older files, as far as they are there.
    ///
    /// # Errors
    /// When one has changed, or cannot be deleted.
    pub fn delete_older(&self) -> Result<(), MigrateError> {
        self.check_older()?;
        for (migration, _) in &self.older {
            remove(&migration.path)?;
        }
        Ok(())
    }

    /// Deletes the journal: everything is done.
    ///
    /// # Errors
    /// When it cannot be deleted.
    pub fn finish(self) -> Result<(), MigrateError> {
        if self.folder.is_file() {
            return remove(&self.folder);
        }
        remove(&self.folder.join(FILE))?;
        remove(&self.folder.join(IGNORE_FILE))?;
        // Without a journal it says nothing, and somebody may have put a file of their own there.
        let _ = std::fs::remove_dir(&self.folder);
        Ok(())
    }
}

/// Makes the journal's folder, which hides itself from git.
fn make_folder(folder: &Path) -> Result<PathBuf, MigrateError> {
    // Left by an earlier version that was cut off before it had changed anything.
    if folder.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        remove(folder)?;
    }
    match std::fs::create_dir(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists || !is_folder(folder) => {
            return Err(MigrateError::file(folder)(error));
        }
        _ => {}
    }
    replace_file(&folder.join(IGNORE_FILE), "*\n")?;
    Ok(folder.to_owned())
}

/// Whether it is a folder, and no link to one, which could be anywhere.
fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

fn digest_of(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
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

        let written = SquashJournal::write(
            &last,
            std::slice::from_ref(&older),
            "select 3",
            Some(("7/5", "db:5432/app")),
        )
        .unwrap();
        assert_eq!(
            SquashJournal::find(folder.path()).unwrap(),
            None,
            "nothing has changed"
        );
        std::fs::write(&last.path, "select 3").unwrap();
        assert_eq!(SquashJournal::find(folder.path()).unwrap(), Some(written.clone()));

        assert!(written.is_of("7/5") && !written.is_of("7/6") && !written.is_without_database());
        assert_eq!(written.database_name(), "db:5432/app");
        std::fs::write(&older.path, "select 4").unwrap();
        assert!(
            written.delete_older().is_err() && older.path.exists(),
            "somebody has changed it"
        );
        std::fs::write(&older.path, "select 1").unwrap();
        std::fs::write(&last.path, "select 3; insert").unwrap();
        assert_eq!(
            SquashJournal::find(folder.path()).unwrap(),
            None,
            "of nobody knows what"
        );
        // Somebody deletes it, long after a squash that has changed nothing.
        std::fs::remove_file(&older.path).unwrap();
        assert_eq!(SquashJournal::find(folder.path()).unwrap(), None);
        std::fs::write(&older.path, "select 1").unwrap();
        written.mark_replaced().unwrap();
        assert_eq!(SquashJournal::find(folder.path()).unwrap(), None);
        written.delete_older().unwrap();
        written.delete_older().unwrap();
        assert_eq!(SquashJournal::find(folder.path()).unwrap(), Some(written.clone()));
        std::fs::write(&last.path, "select 2").unwrap();
        assert_eq!(
            SquashJournal::find(folder.path()).unwrap(),
            None,
            "it has its old text"
        );
        std::fs::write(&last.path, "select 3").unwrap();
        assert!(!older.path.exists() && last.path.exists());
        let outside = folder.path().with_extension("9_x.sql");
        std::fs::write(&outside, "").unwrap();
        let name = format!("../{}", outside.file_name().unwrap().to_string_lossy());
        let file = written.folder().join(FILE);
        let journal = std::fs::read_to_string(&file).unwrap() + "00 " + &name + "\n00 /1_x.sql\n";
        std::fs::write(&file, journal).unwrap();
        assert_eq!(SquashJournal::find(folder.path()).unwrap(), Some(written.clone()));
        std::fs::remove_file(outside).unwrap();
        let ignored = std::fs::read_to_string(written.folder().join(".gitignore")).unwrap();
        assert_eq!(ignored, "*\n", "git takes nothing of it along");
        let text = std::fs::read_to_string(written.folder().join(FILE)).unwrap();
        written.finish().unwrap();
        assert_eq!(SquashJournal::find(folder.path()).unwrap(), None);
        // As an earlier version wrote it.
        std::fs::write(folder.path().join(FOLDER), text).unwrap();
        let found = SquashJournal::find(folder.path()).unwrap();
        found.expect("a journal").finish().unwrap();
        assert!(!folder.path().join(FOLDER).exists());
    }

    #[test]
    fn a_journal_is_neither_written_nor_read_through_a_link_out_of_the_folder() {
        let [folder, outside] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(outside.path(), folder.path().join(FOLDER)).unwrap();
        std::fs::write(folder.path().join("1_a.sql"), "select 1").unwrap();
        let last = parse_file_name(folder.path(), "1_a.sql").unwrap();

        assert!(SquashJournal::write(&last, &[], "select 1", None).is_err());
        let lines = [&digest_of("select 1"), "1_a.sql", "database none"].join("\n");
        std::fs::write(outside.path().join(FILE), lines).unwrap();
        assert_eq!(SquashJournal::find(folder.path()).unwrap(), None);
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    }
}
