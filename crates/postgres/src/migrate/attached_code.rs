//! Code of a project that is attached to tables which a superuser reads or writes.
//!
//! Index predicates, check constraints, rules and triggers run with the rights of whoever uses their table. `postgres` may attach them
//! to tables of services. Functions of PostgreSQL are no better than a project's there: some run a text as SQL (`ts_rewrite`,
//! `query_to_xml`). The tables that are asked about have none as they were shipped.

use tokio_postgres::Client;

use super::error::MigrateError;

const ATTACHED: &str = include_str!("attached_code.sql");

/// The tables of services into which files of the platform schema write.
const WRITTEN_TABLES: &str = "
    select c.oid from pg_catalog.pg_class as c
    join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
    where pg_catalog.concat(n.nspname, '.', c.relname) operator(pg_catalog.=) any (
      array['auth.schema_migrations', 'supabase_functions.migrations']::pg_catalog.text[]
    )";

/// Lists the code of others on tables of services into which files of the platform schema write.
///
/// # Errors
/// When a query fails.
pub(super) async fn list_code_on_written_tables(superuser: &Client) -> Result<Vec<String>, MigrateError> {
    let rows = superuser.query(WRITTEN_TABLES, &[]).await?;
    let oids: Vec<u32> = rows.iter().map(|row| row.get(0)).collect();
    let attached = superuser.query(ATTACHED, &[&oids]).await?;
    Ok(attached.iter().map(|row| row.get(0)).collect())
}
