//! A project's `roles.sql` and migrations (gateway.md §8).

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio_postgres::Client;

use super::{
    error::MigrateError,
    extension::{BUILT_IN, ExtensionStatement, Missing, judge_missing},
    run::Script,
};

const HISTORY: &str = "
    create schema if not exists supabase_migrations;
    create table if not exists supabase_migrations.schema_migrations (
      version text not null primary key,
      statements text[],
      name text
    );
    alter table supabase_migrations.schema_migrations add column if not exists statements text[];
    alter table supabase_migrations.schema_migrations add column if not exists name text;";

const INSERT_HISTORY: &str =
    "insert into supabase_migrations.schema_migrations (version, name, statements) values ($1, $2, $3)";

/// A migration waits this long for a lock and then fails, instead of stopping everybody behind it.
const LOCK_TIMEOUT: Duration = Duration::from_secs(4);

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

/// Whether a migration ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MigrationState {
    /// File and history agree.
    Applied,
    /// A file that has not run.
    Pending,
    /// In the history, without a file.
    Missing,
}

/// A line of `selvedge migrate list`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrationStatus {
    /// Its version.
    pub version: String,
    /// Its name; empty when only the history knows it and stored none.
    pub name: String,
    /// Whether it ran.
    pub state: MigrationState,
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

/// Files and history side by side, in order of version. `client` is `postgres`'s.
///
/// # Errors
/// When the database cannot be asked.
pub async fn list(client: &Client, local: &[Migration]) -> Result<Vec<MigrationStatus>, MigrateError> {
    let applied = read_history(client).await?;
    let mut statuses: Vec<MigrationStatus> = local
        .iter()
        .map(|migration| MigrationStatus {
            version: migration.version.clone(),
            name: migration.name.clone(),
            state: if applied.iter().any(|(version, _)| *version == migration.version) {
                MigrationState::Applied
            } else {
                MigrationState::Pending
            },
        })
        .collect();
    for (version, name) in applied {
        if !local.iter().any(|migration| migration.version == version) {
            statuses.push(MigrationStatus {
                version,
                name: name.unwrap_or_default(),
                state: MigrationState::Missing,
            });
        }
    }
    statuses.sort_by(|a, b| a.version.cmp(&b.version));
    Ok(statuses)
}

async fn read_history(client: &Client) -> Result<Vec<(String, Option<String>)>, MigrateError> {
    let exists: bool = client
        .query_one(
            "select to_regclass('supabase_migrations.schema_migrations') is not null",
            &[],
        )
        .await?
        .get(0);
    if !exists {
        return Ok(Vec::new());
    }
    // Histories of old CLIs have no column `name`.
    let rows = client
        .query(
            "select version, to_jsonb(m) ->> 'name' from supabase_migrations.schema_migrations as m order by version",
            &[],
        )
        .await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// Runs what is pending, each file in one transaction with its history row (GW-021), and returns what ran. `client` is
/// `postgres`'s.
///
/// # Errors
/// The first failing file stops it: see [`MigrateError`]. Earlier files stay applied, the failing one leaves nothing.
pub async fn apply_pending<'a>(
    client: &Client,
    local: &'a [Migration],
    mut warn: impl FnMut(String),
) -> Result<Vec<&'a Migration>, MigrateError> {
    let applied: Vec<String> = read_history(client)
        .await?
        .into_iter()
        .map(|(version, _)| version)
        .collect();
    let waiting = pending(local, &applied)?;
    if waiting.is_empty() {
        return Ok(waiting);
    }
    client.batch_execute(HISTORY).await?;

    let mut texts = Vec::with_capacity(waiting.len());
    for migration in &waiting {
        texts.push(read_file(&migration.path)?);
    }
    let scripts = waiting
        .iter()
        .zip(&texts)
        .map(|(migration, text)| Script::parse(&migration.path, text))
        .collect::<Result<Vec<_>, _>>()?;
    let skip = check_extensions(client, &scripts, &mut warn).await?;

    for (migration, script) in waiting.iter().zip(&scripts) {
        apply_migration(client, migration, script, &skip).await?;
    }
    Ok(waiting)
}

async fn apply_migration(
    client: &Client,
    migration: &Migration,
    script: &Script<'_>,
    skip: &[String],
) -> Result<(), MigrateError> {
    let statements: Vec<&str> = script.statements.iter().map(|statement| statement.text).collect();
    run_file(client, script, skip, Some(LOCK_TIMEOUT), async {
        client
            .execute(
                INSERT_HISTORY,
                &[&migration.version, &migration.name, &statements],
            )
            .await?;
        Ok(())
    })
    .await
}

/// Runs the project's `roles.sql` if it exists (GW-026); it has no history and must bear repetition.
///
/// # Errors
/// See [`MigrateError`].
pub async fn apply_roles(client: &Client, path: &Path) -> Result<bool, MigrateError> {
    if !path.exists() {
        return Ok(false);
    }
    let text = read_file(path)?;
    let script = Script::parse(path, &text)?;
    run_file(client, &script, &[], None, async { Ok(()) }).await?;
    Ok(true)
}

/// Runs one file and then `record` in one transaction, with a fresh session before and after.
pub(crate) async fn run_file(
    client: &Client,
    script: &Script<'_>,
    skip: &[String],
    lock_timeout: Option<Duration>,
    record: impl Future<Output = Result<(), MigrateError>>,
) -> Result<(), MigrateError> {
    reset_session(client, lock_timeout).await?;
    client.batch_execute("begin").await?;
    let outcome = async {
        script.run(client, skip).await?;
        // The file may have ended as another role; what is recorded must not depend on it.
        client.batch_execute("reset role").await?;
        record.await?;
        client.batch_execute("commit").await?;
        Ok(())
    }
    .await;
    if outcome.is_err() {
        // When the connection itself is gone, so is the transaction, and the first error is the one to report.
        client.batch_execute("rollback").await.ok();
        return outcome;
    }
    reset_session(client, None).await
}

/// What one file set must not reach the next.
async fn reset_session(client: &Client, lock_timeout: Option<Duration>) -> Result<(), MigrateError> {
    let lock_timeout = match lock_timeout {
        Some(timeout) => format!("; set lock_timeout = {}", timeout.as_millis()),
        None => String::new(),
    };
    Ok(client
        .batch_execute(&format!("reset role; reset all{lock_timeout}"))
        .await?)
}

pub(crate) fn read_file(path: &Path) -> Result<String, MigrateError> {
    let bytes = std::fs::read(path).map_err(MigrateError::file(path))?;
    String::from_utf8(bytes).map_err(|_| {
        MigrateError::file(path)(std::io::Error::new(
            std::io::ErrorKind::InvalidData,
            "it is not UTF-8 text",
        ))
    })
}

/// Refuses missing extensions before anything runs (GW-019) and returns those that are left out.
pub(crate) async fn check_extensions(
    client: &Client,
    scripts: &[Script<'_>],
    warn: &mut impl FnMut(String),
) -> Result<Vec<String>, MigrateError> {
    let mut uses = Vec::new();
    for script in scripts {
        for statement in &script.statements {
            if let Some(ExtensionStatement::Create { name, .. }) = ExtensionStatement::parse(statement.text) {
                uses.push((script.path, statement.line, name));
            }
        }
    }
    if uses.is_empty() {
        return Ok(Vec::new());
    }
    let available: BTreeSet<String> = client
        .query("select name::text from pg_available_extensions", &[])
        .await?
        .iter()
        .map(|row| row.get(0))
        .collect();
    let mut skip: Vec<String> = BUILT_IN.map(ToOwned::to_owned).to_vec();
    for (path, line, name) in uses
        .into_iter()
        .filter(|(_, _, name)| !available.contains(name) && !BUILT_IN.contains(&name.as_str()))
    {
        match judge_missing(&name) {
            Missing::Habit(consequence) if skip.contains(&name) => {
                tracing::debug!(extension = name, consequence, "named again");
            }
            Missing::Habit(consequence) => {
                warn(format!(
                    "{}:{line}: extension \"{name}\" is not available here and was left out: {consequence}",
                    path.display()
                ));
                skip.push(name);
            }
            Missing::Needed(advice) => {
                return Err(MigrateError::MissingExtension {
                    path: path.to_owned(),
                    line,
                    name,
                    advice,
                });
            }
        }
    }
    Ok(skip)
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
