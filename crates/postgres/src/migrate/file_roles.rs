//! The three roles of PostgreSQL whose members reach files and programs of the server, which PostgreSQL 15 lets `postgres` grant.

use tokio_postgres::Client;

use super::error::MigrateError;

/// Roles whose members read and write files of the server, and run programs there.
pub(super) const FILE_ROLES: [&str; 3] = [
    "pg_execute_server_program",
    "pg_read_server_files",
    "pg_write_server_files",
];

/// Which of the three roles that reach files and programs a role with CREATEROLE may grant: none from PostgreSQL 16 on.
const GRANTABLE: &str = "
    select a.rolname::pg_catalog.text from pg_catalog.pg_authid as a
    where a.rolname operator(pg_catalog.=) any ($1::pg_catalog.text[]::pg_catalog.name[]) and not a.rolsuper
      and pg_catalog.current_setting('server_version_num')::pg_catalog.int4 operator(pg_catalog.<) 160000
    order by 1";

/// Lists those of the roles that reach files and programs of the server which every role with CREATEROLE, such as `postgres`, may
/// grant to itself. PostgreSQL 16 lets nobody do so.
///
/// # Errors
/// When the query fails; `client` must be a superuser's.
pub async fn list_grantable_file_roles(client: &Client) -> Result<Vec<String>, MigrateError> {
    let rows = client.query(GRANTABLE, &[&FILE_ROLES.as_slice()]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Keeps roles with CREATEROLE, such as `postgres`, from granting the roles that reach files and programs, as supautils does in
/// Supabase's image. PostgreSQL itself prevents it from version 16 on; older versions let such roles grant every role that is no
/// superuser's, so these three are made superusers, in the whole server. A role with members stays as it is, because these would become
/// superusers. Memberships are to be taken back before and afterwards: somebody may have granted one at this moment.
///
/// # Errors
/// When PostgreSQL refuses; `client` must be a superuser's.
pub async fn reserve_file_roles(client: &Client) -> Result<(), MigrateError> {
    if list_grantable_file_roles(client).await?.is_empty() {
        return Ok(());
    }
    client.batch_execute(LOCK_MEMBERSHIPS).await?;
    let reserved = client.execute(RESERVE, &[&FILE_ROLES.as_slice()]).await;
    client.batch_execute("commit").await?;
    reserved?;
    // A GRANT that was allowed before has waited for the lock. It has ended when the lock is there again; who takes memberships back
    // afterwards finds it.
    Ok(client
        .batch_execute(&format!("{LOCK_MEMBERSHIPS}; commit"))
        .await?)
}

/// Waits for every GRANT whose transaction is open, as nobody sees its membership yet.
const LOCK_MEMBERSHIPS: &str = "begin; lock table pg_catalog.pg_auth_members in share row exclusive mode";

const RESERVE: &str = "
    update pg_catalog.pg_authid a set rolsuper = true
    where a.rolname operator(pg_catalog.=) any ($1::pg_catalog.text[]::pg_catalog.name[])
      and not a.rolsuper
      and pg_catalog.current_setting('server_version_num')::pg_catalog.int4 operator(pg_catalog.<) 160000
      and not exists (
        select from pg_catalog.pg_auth_members m where m.roleid operator(pg_catalog.=) a.oid
      )";

/// Undoes [`reserve_file_roles`].
///
/// # Errors
/// When PostgreSQL refuses; `client` must be a superuser's.
pub async fn release_file_roles(client: &Client) -> Result<(), MigrateError> {
    let sql = "update pg_catalog.pg_authid a set rolsuper = false
               where a.rolname operator(pg_catalog.=) any ($1::pg_catalog.text[]::pg_catalog.name[]) and a.rolsuper";
    client.execute(sql, &[&FILE_ROLES.as_slice()]).await?;
    Ok(())
}
