//! The passwords of roles, which only the embedded cluster sets.

use anyhow::Result;
use selvedge_postgres::PrivilegedSession;
use selvedge_postgres::cluster::{ClusterAccess, REPLICATION_LOGIN};
use selvedge_postgres::migrate::{self, RolePasswords, matches_verifier};
use selvedge_terminal::print_warnings;

use super::catalog_locks::lock_catalogs;

/// Keeps roles from getting another name while passwords are set by name: until PostgreSQL 15 `postgres` may rename most roles.
const ROLES: &str = "pg_catalog.pg_authid";

/// Sets what is missing of the roles' passwords. New platform files may create roles, which have no password yet. At other starts nothing has
/// changed, unless somebody has changed the superuser's password, from which others are made, or the data are those of a backup.
pub async fn set_passwords(
    access: &ClusterAccess,
    superuser: &PrivilegedSession,
    has_new_roles: bool,
) -> Result<()> {
    let query = "select a.rolpassword from pg_catalog.pg_authid as a
        where a.rolname operator(pg_catalog.=) $1::pg_catalog.text::pg_catalog.name";
    let row = superuser.query_opt(query, &[&REPLICATION_LOGIN]).await?;
    if row.is_none() {
        print_warnings(&[format!(
            "there is no role {REPLICATION_LOGIN}, so Realtime sees no changes: give it its name back"
        )]);
    }
    let own = access.role_password(REPLICATION_LOGIN);
    // Without the role nothing is known of the others, whose passwords somebody may have chosen.
    let is_known = row.is_none_or(|row| {
        let verifier: Option<String> = row.get(0);
        verifier.is_some_and(|verifier| matches_verifier(&own, &verifier))
    });
    if has_new_roles || !is_known {
        lock_catalogs(&access.superuser_login(), superuser, ROLES).await?;
        migrate::write_role_passwords(superuser, &all_passwords(access)).await?;
        superuser.batch_execute("commit").await?;
    }
    Ok(())
}

fn all_passwords(access: &ClusterAccess) -> RolePasswords {
    let password = |role| Some(access.role_password(role));
    RolePasswords {
        postgres: password("postgres"),
        authenticator: password("authenticator"),
        supabase_auth_admin: password("supabase_auth_admin"),
        supabase_storage_admin: password("supabase_storage_admin"),
        supabase_functions_admin: password("supabase_functions_admin"),
        supabase_replication_admin: password(REPLICATION_LOGIN),
        supabase_read_only_user: password("supabase_read_only_user"),
        pgbouncer: password("pgbouncer"),
        console: password("selvedge_console_reader"),
    }
}
