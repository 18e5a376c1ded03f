//! What only the embedded cluster does about roles: their passwords, what PostgreSQL 15 lets `postgres` become, and what it may do in databases of
//! its own.

use std::collections::BTreeSet;

use anyhow::Result;
use secrecy::SecretString;
use selvedge_postgres::cluster::{Cluster, REPLICATION_LOGIN};
use selvedge_postgres::migrate::{self, ExtensionGuard, RolePasswords, matches_verifier};
use selvedge_postgres::{PrivilegedSession, quote_identifier};

use super::EMBEDDED_PASSWORD;
use crate::output;

/// Sets what is missing of the roles' passwords; `own` is that of the login for replication. New platform files may create roles, which
/// have no password yet. At other starts nothing has changed, unless somebody has changed the
/// superuser's password.
pub(super) async fn set_passwords(
    own: SecretString,
    superuser: &PrivilegedSession,
    has_new_roles: bool,
) -> Result<()> {
    let query = "select a.rolpassword from pg_catalog.pg_authid as a
        where a.rolname operator(pg_catalog.=) $1::pg_catalog.text::pg_catalog.name";
    let row = superuser.query_opt(query, &[&REPLICATION_LOGIN]).await?;
    if row.is_none() {
        output::print_warnings(&[format!(
            "there is no role {REPLICATION_LOGIN}, so Realtime sees no changes: give it its name back"
        )]);
    }
    let verifier: Option<String> = row.and_then(|row| row.get(0));
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

/// What an earlier start has done in every database, so that this one need not connect to all of them.
const DONE: &str = "select s.value from _selvedge.project_settings as s
     where s.name operator(pg_catalog.=) $1::pg_catalog.text";
const RECORD_DONE: &str = "insert into _selvedge.project_settings (name, value) values ($1, $2)
     on conflict (name) do update set value = excluded.value";
const SLOT_FUNCTIONS: &str = "slot_functions.are_closed";
const EXTENSIONS: &str = "extensions.guard";

const OTHER_DATABASES: &str =
    "select d.oid, d.datname::pg_catalog.text, d.datallowconn from pg_catalog.pg_database as d
     where d.datname operator(pg_catalog.<>) pg_catalog.current_database() and d.datconnlimit operator(pg_catalog.<>) -2
     order by d.datistemplate desc, d.datname";
const OWN_DATABASE: &str = "select d.oid from pg_catalog.pg_database as d
     where d.datname operator(pg_catalog.=) pg_catalog.current_database()";

/// How often the list of databases is read again while others make new ones.
const ROUNDS: usize = 10;

/// Closes two ways from `postgres` to a superuser in all databases but the project's, the templates of new ones included. Functions of
/// replication load a library that their caller names, and on PostgreSQL 15 `postgres` may become a role with REPLICATION. Scripts of
/// extensions run as a superuser, and may call functions that `postgres` has made. What could not be reached is tried again by the next start.
pub(super) async fn guard_databases(cluster: &Cluster, superuser: &PrivilegedSession) -> Result<()> {
    let guard = ExtensionGuard::read(superuser).await?;
    let wanted = [(SLOT_FUNCTIONS, "true".to_owned()), (EXTENSIONS, guard.digest())];
    let mut is_known = true;
    for (name, value) in &wanted {
        let row = superuser.query_opt(DONE, &[name]).await?;
        is_known &= row.is_some_and(|row| row.get::<_, &str>(0) == value);
    }
    if is_known {
        return Ok(());
    }
    migrate::close_slot_functions(superuser).await?;
    if !guard_others(cluster, superuser, &guard).await? {
        return Ok(());
    }
    for (name, value) in &wanted {
        superuser.execute(RECORD_DONE, &[name, value]).await?;
    }
    Ok(())
}

/// Visits databases until the list has none that was not visited. One that is being made is not in the list yet, and is a copy of what
/// another one was before: PostgreSQL lets nobody log in to that one until the copy is in the list. Returns whether all are guarded.
async fn guard_others(
    cluster: &Cluster,
    superuser: &PrivilegedSession,
    guard: &ExtensionGuard,
) -> Result<bool> {
    let mut visited: BTreeSet<u32> = BTreeSet::new();
    let mut is_done = true;
    for _ in 0..ROUNDS {
        let mut rows = superuser.query(OTHER_DATABASES, &[]).await?;
        rows.retain(|row| !visited.contains(&row.get(0)));
        if rows.is_empty() {
            return Ok(is_done);
        }
        for row in rows {
            let (number, name, is_open): (u32, String, bool) = (row.get(0), row.get(1), row.get(2));
            match install_guard(cluster, superuser, guard, &name, is_open).await {
                // Somebody may have given the name to another database meanwhile.
                Ok(found) => visited.insert(found),
                Err(error) => {
                    is_done = false;
                    output::print_warnings(&[format!("the database {name} cannot be reached: {error:#}")]);
                    visited.insert(number)
                }
            };
        }
    }
    Ok(false)
}

/// Guards the database of that name, and returns its number.
async fn install_guard(
    cluster: &Cluster,
    superuser: &PrivilegedSession,
    guard: &ExtensionGuard,
    name: &str,
    is_open: bool,
) -> Result<u32> {
    let allow = |allowed: bool| {
        format!(
            "alter database {} with allow_connections {allowed}",
            quote_identifier(name)
        )
    };
    if !is_open {
        superuser.batch_execute(&allow(true)).await?;
    }
    let guarded = async {
        let session = cluster.superuser_login().to_database(name).connect().await?;
        migrate::close_slot_functions(&session).await?;
        guard.install(&session).await?;
        anyhow::Ok(session.query_one(OWN_DATABASE, &[]).await?.get(0))
    }
    .await;
    // That of an earlier start may have been cut off here.
    if !is_open || name == "template0" {
        superuser.batch_execute(&allow(false)).await?;
    }
    guarded
}
