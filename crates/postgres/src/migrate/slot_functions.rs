//! Closes the functions by which a role with REPLICATION loads a library (`sql/platform/0101_replication_slots.sql`) in a database
//! without platform schema.

use tokio_postgres::Client;

use super::error::MigrateError;

const CLOSE: &str = "
    update pg_catalog.pg_proc as p
    set proacl = array[pg_catalog.makeaclitem(p.proowner, p.proowner, 'EXECUTE', false)]
    where p.pronamespace operator(pg_catalog.=) 11::pg_catalog.oid
      and p.proname operator(pg_catalog.=) any (
        array['pg_create_logical_replication_slot', 'pg_copy_logical_replication_slot']::pg_catalog.name[]
      )";

/// Lets superusers alone execute them. By UPDATE, which no event trigger of the database sees.
///
/// # Errors
/// When PostgreSQL refuses; `superuser` must be one.
pub async fn close_slot_functions(superuser: &Client) -> Result<(), MigrateError> {
    Ok(superuser.batch_execute(CLOSE).await?)
}
