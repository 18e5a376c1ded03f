//! `db reset` of a database on a server that this program does not run.
//!
//! Roles, settings of the database and objects of superusers belong to whoever runs that server, so they stay. Everything else that
//! statements of a project can have made or changed is made as in a fresh database, objects in the services' schemas included.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::change_statements::{lock_tables, run_in_savepoint};
use super::clear::{BEGIN_CLEAR, check_unlocked, clear_project, explain_emptied, name_holders};
use super::database_state::{DatabaseState, OnRefusal, Part, RANK_OF_EXTENSIONS};
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

/// Extensions that exist in no other form than their own. The table has this name in databases of every version.
const IS_EXTENSION_MISSING: &str = "
    select not exists (select from pg_catalog.pg_extension as e where e.extname operator(pg_catalog.=) $1::pg_catalog.text::pg_catalog.name)
      and not exists (select from _selvedge.installed_extensions as i where i.name operator(pg_catalog.=) $1::pg_catalog.text)
      and (
        exists (select from pg_catalog.pg_available_extensions as a where a.name operator(pg_catalog.=) $1::pg_catalog.text::pg_catalog.name)
        or $1::pg_catalog.text operator(pg_catalog.=) any (array['pgjwt', 'pg_net', 'supabase_vault']::pg_catalog.text[])
      )";

/// Which of these tables are there, and whether a superuser owns them and the schemas in which they are: nobody else can give the name of such a
/// table to another one once it is locked. Those of Auth, Storage and the vault are empty already, and those of the
/// program itself say what was done with this database.
const OWNERS: &str = "
    select t.name, o.rolsuper and s.rolsuper
    from pg_catalog.unnest($1::pg_catalog.text[]) as t (name)
    join pg_catalog.pg_class as c on c.oid operator(pg_catalog.=) pg_catalog.to_regclass(t.name)::pg_catalog.oid
    join pg_catalog.pg_roles as o on o.oid operator(pg_catalog.=) c.relowner
    join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
    join pg_catalog.pg_roles as s on s.oid operator(pg_catalog.=) n.nspowner
    where pg_catalog.split_part(t.name, '.'::pg_catalog.text, 1)
      operator(pg_catalog.<>) all (array['auth', 'storage', 'vault', '_selvedge']::pg_catalog.text[])";

/// How the whole database is made again, where it cannot be made as a fresh one.
const ANEW: &str = "drop database, create database, selvedge migrate up";

/// What is not as in a fresh database after a reset.
#[derive(Default)]
struct Left {
    /// Names of parts, such as a column that has another type.
    parts: Vec<String>,
    /// Tables whose rows stay.
    tables: Vec<String>,
}

impl Left {
    fn into_names(self) -> Vec<String> {
        let rows = self.tables.into_iter().map(|table| format!("rows of {table}"));
        self.parts.into_iter().chain(rows).collect()
    }
}

/// Empties a database of what the project has made, in one transaction, and makes what is left as in the fresh database of `fresh`.
/// `postgres` is a session of that role. What it may not undo, such as rights on a table of Auth, is undone by `superuser` in a second
/// transaction. Returns the names of what still differs, such as a column that has another type.
///
/// # Errors
/// [`MigrateError::NotAsFresh`] when `superuser` is missing and something would stay that a fresh database does not have; then, and when a statement
/// of the first transaction fails, nothing has changed.
pub async fn reset_external(
    fresh: &DatabaseState,
    postgres: &Client,
    superuser: Option<&Client>,
) -> Result<Vec<String>, MigrateError> {
    if let Some(superuser) = superuser {
        check_unlocked(superuser, &list_tables(fresh, superuser, true).await?).await?;
    }
    postgres.batch_execute(BEGIN_CLEAR).await?;
    let left = match reset_as_postgres(fresh, postgres, superuser.is_some()).await {
        Ok(left) => left,
        Err(error) => {
            // If the connection is lost, this fails as well; the first error is reported.
            postgres.batch_execute("rollback").await.ok();
            return Err(name_holders(postgres, error).await);
        }
    };
    postgres.batch_execute("commit").await?;
    match superuser {
        Some(superuser) => match restore_as_superuser(fresh, superuser, left).await {
            Ok(names) => Ok(names),
            Err(error) => Err(explain_emptied(superuser, error, ANEW).await),
        },
        None => Ok(left.into_names()),
    }
}

/// Restores what only a superuser may. Everything else could be made by `postgres`, and may call what a project has written.
async fn restore_as_superuser(
    fresh: &DatabaseState,
    superuser: &Client,
    mut left: Left,
) -> Result<Vec<String>, MigrateError> {
    left.tables
        .extend(empty_tables_of_superusers(fresh, superuser).await?);
    if !left.parts.is_empty() {
        let is_meant = |part: &Part| is_of_project(part) && part.is_property();
        fresh.restore_objects(superuser, is_meant).await?;
        let (more, other) = fresh.list_differing(superuser, is_of_project).await?;
        left.parts = name_parts(more.iter().chain(&other));
    }
    Ok(left.into_names())
}

/// Does what `postgres` may do, in the transaction that is open.
async fn reset_as_postgres(
    fresh: &DatabaseState,
    client: &Client,
    has_superuser: bool,
) -> Result<Left, MigrateError> {
    let kept = fresh.list_taken_over(client).await?;
    clear_project(client, &kept).await?;
    client.batch_execute(PIN).await?;
    let mut left = Left {
        parts: restore_extensions(fresh, client).await?,
        ..Left::default()
    };
    fresh.change(client, is_of_project, OnRefusal::Skip).await?;
    left.tables = empty_tables_of_services(fresh, client, has_superuser).await?;
    let (more, other) = fresh.list_differing(client, is_of_project).await?;
    // What an older version has made otherwise differs as well, but is nothing that a project has added.
    let stays = name_parts(more.iter().chain(other.iter().filter(|part| part.is_right())));
    if !has_superuser && !stays.is_empty() {
        return Err(MigrateError::NotAsFresh(stays));
    }
    left.parts.extend(name_parts(more.iter().chain(&other)));
    Ok(left)
}

/// Deletes the rows of the services' tables that have none in a fresh database: messages, requests, runs. Returns the tables whose rows
/// stay. Those of superusers are left to one if there is a session of one.
async fn empty_tables_of_services(
    fresh: &DatabaseState,
    client: &Client,
    has_superuser: bool,
) -> Result<Vec<String>, MigrateError> {
    let mut left = Vec::new();
    let of_superusers = list_tables(fresh, client, true).await?;
    let of_services = list_tables(fresh, client, false).await?;
    // In one statement, as the tables refer to each other.
    if !of_services.is_empty() && !run_in_savepoint(client, &truncate(&of_services)).await? {
        for table in of_services {
            if !run_in_savepoint(client, &truncate(std::slice::from_ref(&table))).await? {
                left.push(table);
            }
        }
    }
    if !has_superuser {
        for table in of_superusers {
            if !run_in_savepoint(client, &format!("delete from {table}")).await?
                && has_rows(client, &table).await?
            {
                left.push(table);
            }
        }
    }
    Ok(left)
}

/// Empties the tables of superusers in a transaction of its own. Nobody else can have put an index or a trigger on one. Returns those whose
/// rows stay.
async fn empty_tables_of_superusers(
    fresh: &DatabaseState,
    superuser: &Client,
) -> Result<Vec<String>, MigrateError> {
    let tables = list_tables(fresh, superuser, true).await?;
    if tables.is_empty() {
        return Ok(tables);
    }
    superuser.batch_execute(BEGIN_CLEAR).await?;
    let emptied = empty_locked(fresh, superuser, &tables).await;
    let end = if emptied.is_ok() { "commit" } else { "rollback" };
    let ended = superuser.batch_execute(end).await;
    match emptied {
        Ok(left) => ended.map(|()| left).map_err(Into::into),
        Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => Err(error.into()),
        // Somebody has put something else into the place of one.
        Err(error) if error.as_db_error().is_some() => Ok(tables),
        Err(error) => Err(error.into()),
    }
}

/// Locks tables before it asks whose they are: while it waits for the lock, somebody may drop one and give its name to a table of his own,
/// whose triggers would run. Returns those that stay as they are for that reason.
async fn empty_locked(
    fresh: &DatabaseState,
    superuser: &Client,
    tables: &[String],
) -> Result<Vec<String>, tokio_postgres::Error> {
    superuser.batch_execute(PIN).await?;
    lock_tables(superuser, tables).await?;
    let own = list_tables(fresh, superuser, true).await?;
    let (emptied, left): (Vec<String>, Vec<String>) =
        tables.iter().cloned().partition(|table| own.contains(table));
    if !emptied.is_empty() {
        superuser.batch_execute(&truncate(&emptied)).await?;
    }
    Ok(left)
}

/// Those of the tables without rows in a fresh database that are there, and belong to superusers or to others.
async fn list_tables(
    fresh: &DatabaseState,
    client: &Client,
    of_superusers: bool,
) -> Result<Vec<String>, tokio_postgres::Error> {
    let rows = client.query(OWNERS, &[&fresh.empty_tables()]).await?;
    let mut tables = Vec::new();
    for row in rows {
        if row.try_get::<_, bool>(1)? == of_superusers {
            tables.push(row.try_get(0)?);
        }
    }
    Ok(tables)
}

fn truncate(tables: &[String]) -> String {
    format!("truncate {} restart identity", tables.join(", "))
}

/// Whether the session's role sees rows in a table. True also where it may not read the table.
async fn has_rows(client: &Client, table: &str) -> Result<bool, MigrateError> {
    // It fails by a division by zero where there are rows, and where the right is missing: one statement tells both.
    let is_empty = format!("select 1 / (not exists (select from {table}))::int");
    Ok(!run_in_savepoint(client, &is_empty).await?)
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
        if !run_in_savepoint(client, &create).await? {
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
