//! Code of a project that is attached to tables which a superuser reads or writes.
//!
//! Index predicates, check constraints, rules and triggers run with the rights of whoever uses their table. `postgres` may attach them
//! to tables of Auth and Storage. The platform itself attaches none but a superuser's.

use tokio_postgres::Client;

use super::error::MigrateError;

const ATTACHED: &str = include_str!("attached_code.sql");

/// The tables of the platform that belong to services, by their schemas.
const TABLES: &str = "
    select c.oid, pg_catalog.format('%I.%I', n.nspname, c.relname)
    from pg_catalog.pg_class as c
    join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
    where n.nspname operator(pg_catalog.=) any (array['auth', 'storage']::pg_catalog.name[])
      and c.relkind operator(pg_catalog.=) any (array['r', 'p', 'v', 'm', 'f']::pg_catalog.\"char\"[])
    order by 2";

const WRITTEN_TABLES: &str = "
    select c.oid from pg_catalog.pg_class as c
    join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
    where pg_catalog.concat(n.nspname, '.', c.relname) operator(pg_catalog.=) any (
      array['auth.schema_migrations', 'supabase_functions.migrations']::pg_catalog.text[]
    )";

/// Locks the tables of Auth and Storage against changes until the transaction ends, and says what code of others would run if a
/// superuser read or wrote them, with triggers off. Empty when there is none.
///
/// # Errors
/// When a query fails.
pub async fn lock_and_list_attached_code(superuser: &Client) -> Result<Vec<String>, MigrateError> {
    let rows = superuser.query(TABLES, &[]).await?;
    let oids: Vec<u32> = rows.iter().map(|row| row.get(0)).collect();
    // Nothing can be attached once the tables are locked; what is attached already is listed first, as a lock of a view goes further.
    let found = list(superuser, &oids).await?;
    if !found.is_empty() || oids.is_empty() {
        return Ok(found);
    }
    let names: Vec<String> = rows.iter().map(|row| row.get(1)).collect();
    let lock = format!(
        "lock table only {} in share row exclusive mode",
        names.join(", only ")
    );
    superuser.batch_execute(&lock).await?;
    list(superuser, &oids).await
}

/// Lists the code of others on tables of services into which files of the platform schema write.
///
/// # Errors
/// When a query fails.
pub(super) async fn list_code_on_written_tables(superuser: &Client) -> Result<Vec<String>, MigrateError> {
    let rows = superuser.query(WRITTEN_TABLES, &[]).await?;
    let oids: Vec<u32> = rows.iter().map(|row| row.get(0)).collect();
    list(superuser, &oids).await
}

async fn list(superuser: &Client, oids: &[u32]) -> Result<Vec<String>, MigrateError> {
    let rows = superuser.query(ATTACHED, &[&oids]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}
