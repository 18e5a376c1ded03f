//! What is wrong with a project's files is found before a database is emptied for them.

use std::collections::BTreeSet;
use std::path::Path;

use tokio_postgres::Client;

use super::error::MigrateError;
use super::files::pending_migrations;
use super::lexer::{Lexer, TokenKind};
use super::migration_file::{Migration, read_file};
use super::run::Script;
use super::statement_plan::plan_statements;

/// As [`check_before_rebuild`], as far as the files tell it alone: where there is no database yet.
///
/// # Errors
/// When a file cannot be read or split, or two files have one version.
pub fn check_files(roles: &Path, migrations: &[Migration]) -> Result<(), MigrateError> {
    pending_migrations(migrations, &[])?;
    // One after the other, as all together may be large.
    for path in list_paths(roles, migrations) {
        Script::parse(path, &read_file(path)?)?;
    }
    Ok(())
}

/// `roles.sql`, if it exists, and migrations, in the order in which they run.
fn list_paths<'a>(roles: &'a Path, migrations: &'a [Migration]) -> Vec<&'a Path> {
    let mut paths: Vec<&Path> = Vec::with_capacity(migrations.len() + 1);
    paths.extend(roles.exists().then_some(roles));
    paths.extend(migrations.iter().map(|migration| migration.path.as_path()));
    paths
}

/// Reads and plans `roles.sql` and migrations as they would run on an empty database. With `roles_stay`, as where a reset drops no roles,
/// none that they create may exist. Nothing is changed.
///
/// # Errors
/// What the first run of these files would be refused for: a file that cannot be read or split, an extension that the server lacks, two
/// files of one version; [`MigrateError::RolesExist`].
pub async fn check_before_rebuild(
    client: &Client,
    roles: &Path,
    migrations: &[Migration],
    roles_stay: bool,
) -> Result<(), MigrateError> {
    pending_migrations(migrations, &[])?;
    let paths = list_paths(roles, migrations);
    let mut texts = Vec::with_capacity(paths.len());
    for path in &paths {
        texts.push(read_file(path)?);
    }
    let scripts = paths
        .iter()
        .zip(&texts)
        .map(|(path, text)| Script::parse(path, text))
        .collect::<Result<Vec<_>, _>>()?;
    // Warnings are left out here, because the run itself prints them.
    plan_statements(client, &scripts, &mut |_| {}).await?;
    match roles_stay {
        true => refuse_existing_roles(client, &list_created_roles(&scripts)).await,
        false => Ok(()),
    }
}

async fn refuse_existing_roles(client: &Client, created: &[(String, String)]) -> Result<(), MigrateError> {
    let names: Vec<&str> = created.iter().map(|(name, _)| name.as_str()).collect();
    let existing = list_existing_roles(client, &names).await?;
    let lines: Vec<String> = created
        .iter()
        .filter(|(name, _)| existing.contains(name))
        .map(|(name, place)| format!("{place}: {name}"))
        .collect();
    match lines.is_empty() {
        true => Ok(()),
        false => Err(MigrateError::RolesExist(lines)),
    }
}

/// Those of these roles that the server has.
pub(super) async fn list_existing_roles(
    client: &Client,
    names: &[&str],
) -> Result<BTreeSet<String>, MigrateError> {
    let query =
        "select rolname::pg_catalog.text from pg_catalog.pg_roles where rolname::pg_catalog.text = any ($1)";
    let rows = client.query(query, &[&names]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Names and places of the roles that statements of their own create, without those that a statement before may have dropped.
fn list_created_roles(scripts: &[Script<'_>]) -> Vec<(String, String)> {
    let mut dropped = BTreeSet::new();
    let mut created = Vec::new();
    for script in scripts {
        for (name, line) in find_created_roles(script, &mut dropped) {
            created.push((name, format!("{}:{line}", script.path.display())));
        }
    }
    created
}

/// As [`list_created_roles`], of one file, with lines. `dropped` has the roles that were dropped before, and gets those of the file.
pub(super) fn find_created_roles(
    script: &Script<'_>,
    dropped: &mut BTreeSet<String>,
) -> Vec<(String, usize)> {
    let mut created = Vec::new();
    for statement in &script.statements {
        match RoleStatement::parse(statement.text) {
            Some(RoleStatement::Create(name)) if !dropped.contains(&name) => {
                created.push((name, statement.line));
            }
            Some(RoleStatement::Drop(names)) => dropped.extend(names),
            _ => {}
        }
    }
    created
}

/// A statement that creates or drops roles.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RoleStatement {
    Create(String),
    Drop(Vec<String>),
}

impl RoleStatement {
    /// `create` and `drop` of `role`, `user` and `group`; `None` for every other statement, such as one about a user mapping.
    pub(super) fn parse(statement: &str) -> Option<Self> {
        let mut lexer = Lexer::new(statement);
        let mut words = Vec::new();
        while let Some(Ok(token)) = lexer.next_token() {
            let text = &statement[token.start..token.end];
            match token.kind {
                TokenKind::Word => words.push(text.to_lowercase()),
                TokenKind::QuotedIdentifier => {
                    words.push(text.trim_matches('"').replace("\"\"", "\""));
                }
                TokenKind::Whitespace | TokenKind::Comment => {}
                _ if text == "," => {}
                _ => break,
            }
        }
        let [verb, kind, names @ ..] = words.as_slice() else {
            return None;
        };
        let first = names.first()?;
        match (verb.as_str(), kind.as_str()) {
            ("create" | "drop", "user") if first == "mapping" => None,
            ("create", "role" | "user" | "group") => Some(Self::Create(first.clone())),
            ("drop", "role" | "user" | "group") => {
                let has_condition = names.starts_with(&["if".to_owned(), "exists".to_owned()]);
                let start = if has_condition { 2 } else { 0 };
                Some(Self::Drop(names.iter().skip(start).cloned().collect()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_025_statements_that_create_roles_are_found_unless_they_are_dropped_before() {
        let text = "-- who works
            create role App_Worker login; CREATE USER \"Mixed \"\"Case\" with password 'x'; create user mapping for a server s;
            drop role if exists gone, other; create role other; create table role (a int); do $$ begin create role r; end $$;";
        let script = Script::parse(Path::new("m.sql"), text).expect("statements");

        let found = list_created_roles(std::slice::from_ref(&script));

        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["app_worker", "Mixed \"Case"]);
        assert!(found[0].1.starts_with("m.sql:"), "{found:?}");
    }
}
