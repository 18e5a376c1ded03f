//! Closes the functions by which a role with REPLICATION loads a library (`sql/platform/0101_replication_slots.sql`), in a database with or
//! without platform schema.

use tokio_postgres::Client;

use super::error::MigrateError;

/// pg_dump repeats what differs from `pg_init_privs`, by a signature that other versions do not have.
const CLOSE: &str = "
    update pg_catalog.pg_proc as p
    set proacl = array[pg_catalog.makeaclitem(p.proowner, p.proowner, 'EXECUTE', false)]
    where p.pronamespace operator(pg_catalog.=) 11::pg_catalog.oid
      and p.proname operator(pg_catalog.=) any (
        array['pg_create_logical_replication_slot', 'pg_copy_logical_replication_slot']::pg_catalog.name[]
      );
    delete from pg_catalog.pg_init_privs as i
    using pg_catalog.pg_proc as p
    where i.objoid operator(pg_catalog.=) p.oid
      and i.classoid operator(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid
      and p.pronamespace operator(pg_catalog.=) 11::pg_catalog.oid
      and p.proname operator(pg_catalog.=) any (
        array['pg_create_logical_replication_slot', 'pg_copy_logical_replication_slot']::pg_catalog.name[]
      );
    insert into pg_catalog.pg_init_privs (objoid, classoid, objsubid, privtype, initprivs)
    select p.oid, 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid, 0, 'i', p.proacl
    from pg_catalog.pg_proc as p
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
