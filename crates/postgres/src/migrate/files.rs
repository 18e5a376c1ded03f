//! The migrations folder: which files are migrations, in which order they run, and whether they fit the history of the
//! database. Everything but the reading of the folder is pure.

use std::path::{Path, PathBuf};

use super::error::{HistoryConflict, MigrateError};
use super::file_names::migration_path;
use super::migration_file::{Migration, parse_file_name};
use super::squash_journal::SquashJournal;

/// Compat: the Supabase CLI skips a first file `<version>_init.sql` older than this. Old versions of the CLI wrote it
/// as a dump of a schema that every database has by now.
const OLDEST_INIT: u64 = 20_211_209_000_000;

/// Content of the migrations folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiscoveredMigrations {
    /// In the order in which they run: sorted by the bytes of their file names.
    pub migrations: Vec<Migration>,
    /// One message per skipped file, to be shown to the user.
    pub warnings: Vec<String>,
}

/// Reads the migrations folder. A folder that does not exist holds no migrations.
///
/// # Errors
/// [`MigrateError::File`] when it exists and cannot be read, [`HistoryConflict::UnfinishedSquash`] when a squash was cut off.
pub fn discover_migrations(folder: &Path) -> Result<DiscoveredMigrations, MigrateError> {
    if let Some(squash) = SquashJournal::find(folder)? {
        return Err(HistoryConflict::UnfinishedSquash {
            file: squash.last.path,
        }
        .into());
    }
    discover_files(folder)
}

/// As [`discover_migrations`], for who applies and lists nothing: files that an unfinished squash has yet to delete are among them.
///
/// # Errors
/// [`MigrateError::File`] when the folder exists and cannot be read.
pub fn discover_files(folder: &Path) -> Result<DiscoveredMigrations, MigrateError> {
    let mut names = Vec::new();
    match std::fs::read_dir(folder) {
        Ok(entries) => {
            for entry in entries {
                let entry = entry.map_err(MigrateError::file(folder))?;
                if !entry.path().is_dir() {
                    names.push(entry.file_name().to_string_lossy().into_owned());
                }
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(DiscoveredMigrations::default());
        }
        Err(error) => return Err(MigrateError::file(folder)(error)),
    }
    // `read_dir` returns files in no defined order.
    names.sort_unstable();
    Ok(sort_migrations(folder, &names))
}

/// Turns sorted file names into migrations and warnings, without access to the folder.
fn sort_migrations(folder: &Path, names: &[String]) -> DiscoveredMigrations {
    let mut discovered = DiscoveredMigrations::default();
    for (index, file) in names.iter().enumerate() {
        match parse_file_name(folder, file) {
            Some(migration) => {
                let is_old_init = index == 0
                    && migration.name == "init"
                    && migration.version.len() == 14
                    && migration
                        .version
                        .parse::<u64>()
                        .is_ok_and(|version| version < OLDEST_INIT);
                if is_old_init {
                    discovered
                        .warnings
                        .push(format!("{file}: skipped, a schema dump of an old CLI"));
                } else {
                    discovered.migrations.push(migration);
                }
            }
            // Hidden files (`.DS_Store`, `.gitkeep`) are common, so they cause no warning.
            None if file.starts_with('.') => {}
            None => discovered.warnings.push(format!(
                "{file}: skipped, its name must match <timestamp>_name.sql"
            )),
        }
    }
    discovered
}

/// The migrations that have to run, in order (GW-022). Pure.
///
/// # Errors
/// [`HistoryConflict`] when two files have one version, an applied version has no file, or a pending file sorts before
/// an applied one.
pub fn pending_migrations<'a>(
    local: &'a [Migration],
    applied: &[String],
) -> Result<Vec<&'a Migration>, HistoryConflict> {
    for (index, migration) in local.iter().enumerate() {
        if let Some(first) = local[..index]
            .iter()
            .find(|other| other.version == migration.version)
        {
            return Err(HistoryConflict::Duplicate {
                version: migration.version.clone(),
                first: first.path.clone(),
                second: migration.path.clone(),
            });
        }
    }
    let missing: Vec<String> = applied
        .iter()
        .filter(|version| !local.iter().any(|file| file.version == **version))
        .cloned()
        .collect();
    if !missing.is_empty() {
        return Err(HistoryConflict::MissingFiles { versions: missing });
    }
    let is_applied = |migration: &Migration| applied.contains(&migration.version);
    let last_applied = local.iter().rposition(is_applied);
    let waiting: Vec<&Migration> = local.iter().filter(|migration| !is_applied(migration)).collect();
    let early: Vec<PathBuf> = local[..last_applied.unwrap_or(0)]
        .iter()
        .filter(|migration| !is_applied(migration))
        .map(|migration| migration.path.clone())
        .collect();
    if early.is_empty() {
        Ok(waiting)
    } else {
        Err(HistoryConflict::OutOfOrder { files: early })
    }
}

/// Creates `<folder>/<timestamp>_<name>.sql`, empty, and returns its path. `timestamp` has 14 digits.
///
/// # Errors
/// [`MigrateError::File`] when it cannot be created or exists already.
pub fn create_migration(folder: &Path, timestamp: &str, name: &str) -> Result<PathBuf, MigrateError> {
    let path = migration_path(folder, timestamp, name.trim())?;
    std::fs::create_dir_all(folder).map_err(MigrateError::file(folder))?;
    std::fs::File::create_new(&path).map_err(MigrateError::file(&path))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn migration(version: &str) -> Migration {
        Migration {
            version: version.into(),
            name: "n".into(),
            path: PathBuf::from(format!("migrations/{version}_n.sql")),
        }
    }

    fn versions(migrations: &[&Migration]) -> Vec<String> {
        migrations
            .iter()
            .map(|migration| migration.version.clone())
            .collect()
    }

    #[test]
    fn gw_021_parses_version_and_name_and_warns_about_other_files() {
        let names = [
            "20200101000000_init.sql",
            "20220101_a_b.sql",
            "3_.sql",
            ".DS_Store",
            "readme.md",
            "x_y.sql",
        ];

        let found = sort_migrations(Path::new("m"), &names.map(String::from));

        let parts: Vec<_> = found
            .migrations
            .iter()
            .map(|m| (m.version.as_str(), m.name.as_str()))
            .collect();
        assert_eq!(parts, [("20220101", "a_b"), ("3", "")]);
        assert_eq!(found.warnings.len(), 3);
        assert!(found.warnings[1].starts_with("readme.md: skipped"));
    }

    #[test]
    fn gw_021_pending_migrations_are_those_not_in_the_history_in_file_order() {
        let local = [migration("1"), migration("2"), migration("3")];

        assert_eq!(
            pending_migrations(&local, &["1".into()]).map(|p| versions(&p)),
            Ok(vec!["2".into(), "3".into()])
        );
        assert_eq!(pending_migrations(&local, &[]).map(|p| p.len()), Ok(3));
        assert_eq!(pending_migrations(&[], &[]).map(|p| p.len()), Ok(0));
    }

    #[test]
    fn gw_022_history_conflicts_have_the_messages_of_the_supabase_cli() {
        let local = [migration("1"), migration("2")];

        let missing = pending_migrations(&local, &["1".into(), "9".into()])
            .expect_err("9 has no file")
            .to_string();
        let early = pending_migrations(&local, &["2".into()])
            .expect_err("1 comes too late")
            .to_string();

        assert!(missing.starts_with("Remote migration versions not found in local migrations directory."));
        assert!(
            missing.contains("\n  9\n") && missing.ends_with("selvedge migration repair 9 --status reverted")
        );
        assert!(early.starts_with(
            "Found local migration files to be inserted before the last migration on remote database."
        ));
        assert!(early.contains("1_n.sql"));
    }

    #[test]
    fn gw_021_rejects_two_files_with_one_version() {
        let local = [migration("1"), migration("1")];

        assert!(matches!(
            pending_migrations(&local, &[]),
            Err(HistoryConflict::Duplicate { .. })
        ));
    }
}
