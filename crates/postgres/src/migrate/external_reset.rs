//! `db reset` of a database on a server that this program does not run.
//!
//! Roles, settings of the database and objects of superusers belong to whoever runs that server, so they stay. Everything else that
//! statements of a project can have made or changed is made as in a fresh database, objects in the services' schemas included.

use tokio_postgres::Client;

use super::clear::clear_project;
use super::database_state::{DatabaseState, OnRefusal, Part, RANK_OF_EXTENSIONS, try_alone};
use super::error::MigrateError;
use crate::quote_literal;

/// The roles as which a project makes and changes objects: `postgres`, those whose member it is, and the one that every owner of the
/// database is a member of.
const PROJECT_ROLES: [&str; 6] = [
    "postgres",
    "supabase_auth_admin",
    "supabase_storage_admin",
    "supabase_realtime_admin",
    "supabase_functions_admin",
    "pg_database_owner",
];

/// Names are resolved as in the session in which the fresh state was read.
const PIN: &str = "set local search_path = pg_catalog, pg_temp; set local check_function_bodies = off;
    set local session_replication_role = replica";

/// Extensions that exist in no other form than their own.
const IS_EXTENSION_MISSING: &str = "
    select not exists (select from pg_catalog.pg_extension as e where e.extname operator(pg_catalog.=) $1::pg_catalog.text::pg_catalog.name)
      and not exists (select from _selvedge.installed_extensions as i where i.name operator(pg_catalog.=) $1::pg_catalog.text)
      and (
        exists (select from pg_catalog.pg_available_extensions as a where a.name operator(pg_catalog.=) $1::pg_catalog.text::pg_catalog.name)
        or $1::pg_catalog.text operator(pg_catalog.=) any (array['pgjwt', 'pg_net', 'supabase_vault']::pg_catalog.text[])
      )";

/// Empties a database of what the project has made, in one transaction, and makes what is left as in the fresh database of `fresh`.
/// `postgres` is a session of that role. What it may not undo, such as rights on a table of Auth, is undone by `superuser` in a second
/// transaction. Returns the names of the parts that still differ, such as a column that has another type.
///
/// # Errors
/// [`MigrateError::NotAsFresh`] when `superuser` is missing and something would stay that a fresh database does not have; then, and when a statement
/// of the first transaction fails, nothing has changed.
pub async fn reset_external(
    fresh: &DatabaseState,
    postgres: &Client,
    superuser: Option<&Client>,
) -> Result<Vec<String>, MigrateError> {
    postgres.batch_execute("begin").await?;
    let outcome = reset_as_postgres(fresh, postgres, superuser.is_some()).await;
    let end = if outcome.is_ok() { "commit" } else { "rollback" };
    // If the connection is lost, this fails as well; the first error is reported.
    let ended = postgres.batch_execute(end).await;
    let left = outcome?;
    ended?;
    match superuser {
        Some(superuser) if !left.is_empty() => {
            let restored = restore_properties(fresh, superuser).await;
            restored.map_err(|error| MigrateError::Emptied(Box::new(error)))
        }
        _ => Ok(left),
    }
}

/// Restores what only a superuser may. Everything else could be made by `postgres`, and may call what a project has written.
async fn restore_properties(fresh: &DatabaseState, superuser: &Client) -> Result<Vec<String>, MigrateError> {
    let is_meant = |part: &Part| is_of_project(part) && part.is_property();
    fresh.restore_objects(superuser, is_meant).await?;
    let (more, other) = fresh.list_differing(superuser, is_of_project).await?;
    Ok(name_parts(more.iter().chain(&other)))
}

/// Does what `postgres` may do, in the transaction that is open. Returns the names of the parts that still differ.
async fn reset_as_postgres(
    fresh: &DatabaseState,
    client: &Client,
    has_superuser: bool,
) -> Result<Vec<String>, MigrateError> {
    clear_project(client).await?;
    client.batch_execute(PIN).await?;
    let mut left = restore_extensions(fresh, client).await?;
    fresh.change(client, is_of_project, OnRefusal::Skip).await?;
    let (more, other) = fresh.list_differing(client, is_of_project).await?;
    // What an older version has made otherwise differs as well, but is nothing that a project has added.
    let stays = name_parts(more.iter().chain(other.iter().filter(|part| part.is_right())));
    if !has_superuser && !stays.is_empty() {
        return Err(MigrateError::NotAsFresh(stays));
    }
    left.extend(name_parts(more.iter().chain(&other)));
    Ok(left)
}

/// Creates the extensions of a fresh database that the project has dropped. Returns those that cannot be created.
async fn restore_extensions(fresh: &DatabaseState, client: &Client) -> Result<Vec<String>, MigrateError> {
    let mut left = Vec::new();
    for (name, schema) in fresh.extensions() {
        if !client
            .query_one(IS_EXTENSION_MISSING, &[&name])
            .await?
            .try_get::<_, bool>(0)?
        {
            continue;
        }
        let create = format!(
            "select _selvedge.create_extension({}, true, {}, null, false)",
            quote_literal(name),
            quote_literal(schema)
        );
        if !try_alone(client, &create).await? {
            left.push(format!("extension {name}"));
        }
    }
    Ok(left)
}

/// Whether statements of a project can have made or changed it. Versions of extensions, and so what is in them, are the server's.
fn is_of_project(part: &Part) -> bool {
    part.rank >= RANK_OF_SCHEMAS
        && part.rank != RANK_OF_EXTENSIONS
        && !part.name.contains(" extension ")
        && part
            .owner
            .as_deref()
            .is_some_and(|owner| PROJECT_ROLES.contains(&owner))
}

/// Parts before this rank belong to the server.
const RANK_OF_SCHEMAS: i32 = 20;

fn name_parts<'a>(parts: impl Iterator<Item = &'a Part>) -> Vec<String> {
    let mut names: Vec<String> = parts.map(|part| part.name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
