//! Seeds: SQL files that fill a fresh database once (gateway.md §8, GW-025).

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use tokio_postgres::Client;

use super::{
    clear::is_platform_role,
    error::MigrateError,
    migration_file::read_file,
    project::run_file,
    rebuild_check::{RoleStatement, find_created_roles, list_existing_roles},
    run::Script,
    statement_plan::plan_statements,
};

const REGISTER: &str = "
    create schema if not exists supabase_migrations;
    create table if not exists supabase_migrations.seed_files (path text not null primary key, hash text not null);";

const UPSERT: &str = "insert into supabase_migrations.seed_files (path, hash) values ($1, $2)
    on conflict (path) do update set hash = excluded.hash";

/// The key of `roles.sql` in `supabase_migrations.seed_files`; no pattern of seeds matches it.
const ROLES: &str = "roles.sql (roles)";

/// A seed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedFile {
    /// Path of the SQL file.
    pub path: PathBuf,
    /// Path relative to the project's folder, with `/`; the key in `supabase_migrations.seed_files`.
    pub name: String,
}

/// Result of [`apply_seeds`] for one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeedOutcome {
    /// The seed file was executed.
    Applied,
    /// It ran before with the same content.
    Unchanged,
    /// It ran before with other content. It is not run again (its rows may exist); only the recorded hash is updated.
    Changed,
}

/// Expands the patterns of `[db.seed] sql_paths`, relative to the project's folder: in their order, sorted within each,
/// without duplicates. A pattern that matches nothing is a warning.
///
/// # Errors
/// [`MigrateError::File`] for a pattern with invalid glob syntax.
pub fn find_seeds(project: &Path, patterns: &[String]) -> Result<(Vec<SeedFile>, Vec<String>), MigrateError> {
    let (mut seeds, mut warnings, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for pattern in patterns {
        let relative = join_stars(pattern.strip_prefix("./").unwrap_or(pattern));
        // The project's own path may contain glob characters such as `[`.
        let full = Path::new(&glob::Pattern::escape(&project.to_string_lossy())).join(relative);
        let paths = glob::glob(&full.to_string_lossy()).map_err(|error| {
            MigrateError::file(Path::new(pattern))(std::io::Error::new(
                std::io::ErrorKind::InvalidInput,
                error,
            ))
        })?;
        let mut found: Vec<PathBuf> = paths
            .filter_map(Result::ok)
            .filter(|path| path.is_file())
            .collect();
        found.sort();
        if found.is_empty() {
            warnings.push(format!("no seed file matches {pattern}"));
        }
        for path in found {
            if seen.insert(path.clone()) {
                let name = path
                    .strip_prefix(project)
                    .unwrap_or(&path)
                    .to_string_lossy()
                    .replace('\\', "/");
                seeds.push(SeedFile { path, name });
            }
        }
    }
    Ok((seeds, warnings))
}

/// Several stars beside other characters of a path's component are one star, as in Go's `path.Match`, by which the Supabase CLI matches:
/// `seeds/**.sql` is `seeds/*.sql`. A component `**` stays, which means folders of any depth.
#[must_use]
pub fn join_stars(pattern: &str) -> String {
    let components = pattern.split('/').map(|component| {
        let mut joined = component.to_owned();
        while joined != "**" && joined.contains("**") {
            joined = joined.replace("**", "*");
        }
        joined
    });
    components.collect::<Vec<_>>().join("/")
}

/// Runs the seeds that have not run yet, each in a transaction. `client` must be logged in as `postgres`.
///
/// # Errors
/// See [`MigrateError`]. Stops at the first file that fails, whose transaction is rolled back.
pub async fn apply_seeds<'a>(
    client: &Client,
    seeds: &'a [SeedFile],
    mut warn: impl FnMut(String),
) -> Result<Vec<(&'a SeedFile, SeedOutcome)>, MigrateError> {
    if seeds.is_empty() {
        return Ok(Vec::new());
    }
    prepare_register(client).await?;
    let mut outcomes = Vec::with_capacity(seeds.len());
    for seed in seeds {
        let text = read_file(&seed.path)?;
        let hash = hash_of(&text);
        let outcome = match find_hash(client, seed).await? {
            Some(known) if known == hash => SeedOutcome::Unchanged,
            Some(_) => {
                record_seed(client, seed, &hash).await?;
                SeedOutcome::Changed
            }
            None => {
                let scripts = [Script::parse(&seed.path, &text)?];
                let plan = plan_statements(client, &scripts, &mut warn).await?;
                let [script] = &scripts;
                run_file(client, script, &plan, &[], record_seed(client, seed, &hash)).await?;
                SeedOutcome::Applied
            }
        };
        outcomes.push((seed, outcome));
    }
    Ok(outcomes)
}

/// Runs the project's `roles.sql` if it exists (GW-026) and has not run in this database with the same content: `create role` cannot be
/// repeated, and a first start may be cut off after it. With other content, statements that create roles which exist are left out.
///
/// # Errors
/// See [`MigrateError`].
pub async fn apply_roles(
    client: &Client,
    path: &Path,
    mut warn: impl FnMut(String),
) -> Result<bool, MigrateError> {
    if !path.exists() {
        return Ok(false);
    }
    let text = read_file(path)?;
    let roles = SeedFile {
        path: path.to_owned(),
        name: ROLES.to_owned(),
    };
    let hash = hash_of(&text);
    prepare_register(client).await?;
    if find_hash(client, &roles)
        .await?
        .is_some_and(|known| known == hash)
    {
        return Ok(true);
    }
    let mut script = Script::parse(path, &text)?;
    leave_out_existing_roles(client, &mut script, &mut warn).await?;
    let scripts = [script];
    let plan = plan_statements(client, &scripts, &mut warn).await?;
    let [script] = &scripts;
    run_file(client, script, &plan, &[], record_seed(client, &roles, &hash)).await?;
    Ok(true)
}

/// Whether `roles.sql` has run in this database, with whatever content.
///
/// # Errors
/// When the connection is lost.
pub async fn has_run_roles(client: &Client) -> Result<bool, MigrateError> {
    let has_register = "select to_regclass('supabase_migrations.seed_files') is not null";
    if !client.query_one(has_register, &[]).await?.try_get::<_, bool>(0)? {
        return Ok(false);
    }
    let roles = SeedFile {
        path: PathBuf::new(),
        name: ROLES.to_owned(),
    };
    Ok(find_hash(client, &roles).await?.is_some())
}

/// Leaves out the statements that create roles which are there already: the file has made them, before somebody changed it, or in a first start of
/// an earlier version that was cut off. Roles of the platform are no such ones.
async fn leave_out_existing_roles(
    client: &Client,
    script: &mut Script<'_>,
    warn: &mut impl FnMut(String),
) -> Result<(), MigrateError> {
    let created = find_created_roles(script, &mut BTreeSet::new());
    let names: Vec<&str> = created.iter().map(|(name, _)| name.as_str()).collect();
    let existing = list_existing_roles(client, &names).await?;
    let is_left_out = |(name, _): &&(String, usize)| existing.contains(name) && !is_platform_role(name);
    for (name, line) in created.iter().filter(is_left_out) {
        warn(format!(
            "{}:{line}: the role {name} exists, so the statement that creates it is left out; the others of the file run",
            script.path.display()
        ));
        // Several statements of one line may create roles.
        script.statements.retain(|statement| {
            let creates = RoleStatement::parse(statement.text);
            statement.line != *line || creates != Some(RoleStatement::Create(name.clone()))
        });
    }
    Ok(())
}

/// Creates the table of files that have run. An event trigger of the project that refuses every statement does not stop a seed that only
/// inserts rows.
async fn prepare_register(client: &Client) -> Result<(), MigrateError> {
    let has_register = "select to_regclass('supabase_migrations.seed_files') is not null";
    if !client.query_one(has_register, &[]).await?.try_get::<_, bool>(0)? {
        client.batch_execute(REGISTER).await?;
    }
    Ok(())
}

fn hash_of(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

/// The hash with which a file has run.
async fn find_hash(client: &Client, file: &SeedFile) -> Result<Option<String>, MigrateError> {
    let query = "select hash from supabase_migrations.seed_files where path = $1";
    let row = client.query_opt(query, &[&file.name]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

async fn record_seed(client: &Client, seed: &SeedFile, hash: &str) -> Result<(), MigrateError> {
    client.execute(UPSERT, &[&seed.name, &hash]).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_025_seed_globs_are_expanded_in_order_sorted_and_without_duplicates() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["seed.sql", "seeds/b.sql", "seeds/a.sql"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("has a parent")).expect("created");
            std::fs::write(path, "").expect("written");
        }

        let patterns = ["./seeds/**.sql", "./seed.sql", "seeds/a.sql", "nothing/*.sql"].map(String::from);
        let (seeds, warnings) = find_seeds(folder.path(), &patterns).expect("patterns are valid");

        let names: Vec<&str> = seeds.iter().map(|seed| seed.name.as_str()).collect();
        assert_eq!(names, ["seeds/a.sql", "seeds/b.sql", "seed.sql"]);
        assert_eq!(warnings, ["no seed file matches nothing/*.sql"]);
    }

    #[test]
    fn gw_025_stars_in_a_row_are_one_star_unless_they_are_a_whole_component() {
        let joined = ["seeds/**.sql", "a**b/***c/*.sql", "seeds/**/x.sql", "**", "[ab]?"].map(join_stars);

        assert_eq!(
            joined,
            ["seeds/*.sql", "a*b/*c/*.sql", "seeds/**/x.sql", "**", "[ab]?"]
        );
    }
}
