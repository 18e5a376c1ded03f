//! What only the embedded cluster does about roles: their passwords, and what PostgreSQL 15 lets `postgres` become.

use anyhow::Result;
use secrecy::SecretString;
use selvedge_postgres::cluster::{Cluster, REPLICATION_LOGIN};
use selvedge_postgres::migrate::{self, RolePasswords, matches_verifier};
use selvedge_postgres::{PrivilegedSession, quote_identifier};

use super::EMBEDDED_PASSWORD;

/// New platform files may create roles, which have no password yet. At other starts nothing has changed, unless somebody has changed the
/// superuser's password.
pub(super) async fn set_passwords(
    cluster: &Cluster,
    superuser: &PrivilegedSession,
    has_new_roles: bool,
) -> Result<()> {
    let own = cluster.replication_password();
    let query = "select a.rolpassword from pg_catalog.pg_authid as a
        where a.rolname operator(pg_catalog.=) $1::pg_catalog.text::pg_catalog.name";
    let verifier: Option<String> = superuser.query_one(query, &[&REPLICATION_LOGIN]).await?.get(0);
    let is_known = verifier.is_some_and(|verifier| matches_verifier(&own, &verifier));
    let passwords = match has_new_roles {
        true => RolePasswords::same_for_all(&SecretString::from(EMBEDDED_PASSWORD)),
        false => RolePasswords::default(),
    };
    if has_new_roles || !is_known {
        let passwords = RolePasswords {
            supabase_replication_admin: Some(own),
            ..passwords
        };
        migrate::set_role_passwords(superuser, &passwords).await?;
    }
    Ok(())
}

/// Closes in the cluster's other databases, and in those that new ones are copied from, what the platform schema closes in the project's:
/// on PostgreSQL 15 `postgres` may become a role with REPLICATION there.
pub(super) async fn close_slot_functions(cluster: &Cluster, superuser: &PrivilegedSession) -> Result<()> {
    if cluster.binaries().major_version() >= 16 {
        return Ok(());
    }
    let query = "select d.datname::pg_catalog.text, d.datallowconn from pg_catalog.pg_database as d
        where d.datname operator(pg_catalog.<>) pg_catalog.current_database()";
    for row in superuser.query(query, &[]).await? {
        let (name, is_open): (String, bool) = (row.get(0), row.get(1));
        let allow = |allowed: bool| {
            format!(
                "alter database {} with allow_connections {allowed}",
                quote_identifier(&name)
            )
        };
        if !is_open {
            superuser.batch_execute(&allow(true)).await?;
        }
        let session = cluster.superuser_login().to_database(&name).connect().await?;
        let closed = migrate::close_slot_functions(&session).await;
        if !is_open {
            superuser.batch_execute(&allow(false)).await?;
        }
        closed?;
    }
    Ok(())
}
