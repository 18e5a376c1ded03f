//! The migrations folder: which files are migrations, in which order they run, and whether they fit the history of the
//! database. Everything but the reading of the folder is pure.

use std::path::{Path, PathBuf};

use super::error::MigrateError;

/// A first file of this age is the CLI's own dump of a schema that every database has by now.
const OLDEST_INIT: u64 = 20_211_209_000_000;

/// A file of the migrations folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    /// The digits before the first `_`.
    pub version: String,
    /// What stands between the version and `.sql`.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

/// The migrations folder as read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Discovered {
    /// In the order in which they run: bytes of their file names.
    pub migrations: Vec<Migration>,
    /// Files left out, and why; for people.
    pub warnings: Vec<String>,
}

/// Files and history that do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryConflict {
    /// The database knows versions that the folder lacks.
    #[error("Remote migration versions not found in local migrations directory.\n  {}", .versions.join(", "))]
    MissingFiles {
        /// The versions.
        versions: Vec<String>,
    },
    /// Files that would have to run before one that already ran.
    #[error(
        "Found local migration files to be inserted before the last migration on remote database.\n  {}",
        .files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    OutOfOrder {
        /// The files.
        files: Vec<PathBuf>,
    },
    /// Two files claim the same version.
    #[error("two migrations have the version {version}: {} and {}", first.display(), second.display())]
    Duplicate {
        /// The version.
        version: String,
        /// One file.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
}

/// Reads the migrations folder. A folder that does not exist holds no migrations.
///
/// # Errors
/// [`MigrateError::File`] when it exists and cannot be read.
pub fn discover(folder: &Path) -> Result<Discovered, MigrateError> {
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
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Discovered::default()),
        Err(error) => return Err(MigrateError::file(folder)(error)),
    }
    names.sort_unstable();
    Ok(arrange(folder, &names))
}

/// The pure half of [`discover`]: sorted file names to migrations and warnings.
fn arrange(folder: &Path, names: &[String]) -> Discovered {
    let mut discovered = Discovered::default();
    for (index, file) in names.iter().enumerate() {
        let parts = file.strip_suffix(".sql").and_then(|stem| stem.split_once('_'));
        match parts {
            Some((version, name)) if is_version(version) => {
                let is_old_init = index == 0
                    && name == "init"
                    && version.len() == 14
                    && version.parse::<u64>().is_ok_and(|version| version < OLDEST_INIT);
                if is_old_init {
                    discovered
                        .warnings
                        .push(format!("{file}: skipped, a schema dump of an old CLI"));
                } else {
                    discovered.migrations.push(Migration {
                        version: version.to_owned(),
                        name: name.to_owned(),
                        path: folder.join(file),
                    });
                }
            }
            // What editors and git leave is no migration and no mistake.
            _ if file.starts_with('.') => {}
            _ => discovered.warnings.push(format!(
                "{file}: skipped, its name must match <timestamp>_name.sql"
            )),
        }
    }
    discovered
}

fn is_version(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Which migrations have to run, in order (GW-022). Pure.
///
/// # Errors
/// [`HistoryConflict`] when files and history do not fit together.
pub fn pending<'a>(
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
/// [`MigrateError::File`] when it cannot be created or exists.
pub fn create_migration(folder: &Path, timestamp: &str, name: &str) -> Result<PathBuf, MigrateError> {
    let name: String = name
        .trim()
        .chars()
        .map(|char| {
            if char.is_alphanumeric() || "_-.".contains(char) {
                char
            } else {
                '_'
            }
        })
        .collect();
    let path = folder.join(format!("{timestamp}_{name}.sql"));
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
    fn gw_021_file_names_give_version_and_name_and_others_warn() {
        let names = [
            "20200101000000_init.sql",
            "20220101_a_b.sql",
            "3_.sql",
            ".DS_Store",
            "readme.md",
            "x_y.sql",
        ];

        let found = arrange(Path::new("m"), &names.map(String::from));

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
    fn gw_021_pending_is_what_the_history_lacks_in_file_order() {
        let local = [migration("1"), migration("2"), migration("3")];

        assert_eq!(
            pending(&local, &["1".into()]).map(|p| versions(&p)),
            Ok(vec!["2".into(), "3".into()])
        );
        assert_eq!(pending(&local, &[]).map(|p| p.len()), Ok(3));
        assert_eq!(pending(&[], &[]).map(|p| p.len()), Ok(0));
    }

    #[test]
    fn gw_022_the_two_history_conflicts_have_the_words_of_the_cli() {
        let local = [migration("1"), migration("2")];

        let missing = pending(&local, &["1".into(), "9".into()])
            .expect_err("9 has no file")
            .to_string();
        let early = pending(&local, &["2".into()])
            .expect_err("1 comes too late")
            .to_string();

        assert!(missing.starts_with("Remote migration versions not found in local migrations directory."));
        assert!(missing.contains('9'));
        assert!(early.starts_with(
            "Found local migration files to be inserted before the last migration on remote database."
        ));
        assert!(early.contains("1_n.sql"));
    }

    #[test]
    fn gw_021_two_files_of_one_version_are_refused() {
        let local = [migration("1"), migration("1")];

        assert!(matches!(
            pending(&local, &[]),
            Err(HistoryConflict::Duplicate { .. })
        ));
    }
}
