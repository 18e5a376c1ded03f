//! Removes what a project has created, for `db reset` of a running database.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::error::MigrateError;

/// Leaves objects, and only these, to the next [`clear_project`] of the transaction.
const KEEP: &str =
    "select pg_catalog.set_config('selvedge.kept_objects', $1::pg_catalog.text[]::pg_catalog.text, true)";

/// Roles of the platform that its prefixes do not cover.
const PLATFORM_ROLES: [&str; 7] = [
    "postgres",
    "anon",
    "authenticated",
    "service_role",
    "authenticator",
    "dashboard_user",
    "pgbouncer",
];

/// Whether the platform or PostgreSQL itself creates a role; all others belong to the project.
#[must_use]
pub fn is_platform_role(role: &str) -> bool {
    ["pg_", "supabase_", "selvedge_"]
        .iter()
        .any(|start| role.starts_with(start))
        || PLATFORM_ROLES.contains(&role)
}

/// How often a reset begins anew when it and a request wait for each other.
const MAX_DEADLOCKS: usize = 5;

/// Drops the project's schemas, tables, functions, types, policies, extensions and publications, and empties the tables of
/// Auth and Storage, in one transaction. `client` must be logged in as `postgres`, or be a superuser's in whose session neither triggers
/// nor event triggers of the project fire. What belongs to `postgres` is the project's, but for `kept`, the names that
/// [`DatabaseState::list_taken_over`](super::DatabaseState::list_taken_over) returns.
///
/// # Errors
/// When a statement fails; then nothing has changed.
pub async fn clear_project(client: &Client, kept: &[String]) -> Result<(), MigrateError> {
    // Also if nothing is kept, because otherwise a setting of this name that the project has made would be read.
    client.query(KEEP, &[&kept]).await?;
    client.batch_execute(include_str!("clear_project.sql")).await?;
    Ok(())
}

/// Begins a transaction that waits for no lock longer than this: somebody's open transaction would let a reset wait without end, and requests
/// wait behind the reset.
pub(super) const BEGIN_CLEAR: &str = "begin; set local lock_timeout = '5s'";

/// Sessions whose transactions have been open for longer than a reset waits, by their numbers and names.
const LONG_TRANSACTIONS: &str = "
    select coalesce(string_agg(format('%s (%s)', a.pid, concat_ws(', ', a.usename, nullif(a.application_name, ''))), ', ' order by a.pid), '')
    from pg_catalog.pg_stat_activity as a
    where a.datname = current_database() and a.pid <> pg_backend_pid() and a.xact_start < clock_timestamp() - interval '4 seconds'";

/// As [`clear_project`], in a transaction that stays open for the caller to commit. A command that ends before that has changed nothing.
///
/// # Errors
/// As [`clear_project`]; [`MigrateError::Locked`] when another transaction has locked something for too long. The transaction is rolled back
/// then.
pub async fn begin_clear_project(client: &Client, kept: &[String]) -> Result<(), MigrateError> {
    client.batch_execute(BEGIN_CLEAR).await?;
    let mut cleared = clear_project(client, kept).await;
    // It locks many tables in an order of its own, and requests lock some of them in the order of their work.
    for _ in 0..MAX_DEADLOCKS {
        match &cleared {
            Err(error) if is_refused_as(error, &SqlState::T_R_DEADLOCK_DETECTED) => {}
            _ => break,
        }
        client.batch_execute("rollback").await.ok();
        client.batch_execute(BEGIN_CLEAR).await?;
        cleared = clear_project(client, kept).await;
    }
    let Err(error) = cleared else {
        return Ok(());
    };
    // Where the connection is lost the rollback fails too. The error that led to it is the one to report.
    client.batch_execute("rollback").await.ok();
    Err(name_holders(client, error).await)
}

/// Waits briefly for everybody who has locked one of these tables, so that what empties them later on, in a transaction of its own, finds them
/// free. Nothing is changed.
///
/// # Errors
/// [`MigrateError::Locked`] when another transaction has locked one for too long.
pub(super) async fn check_unlocked(client: &Client, tables: &[String]) -> Result<(), MigrateError> {
    if tables.is_empty() {
        return Ok(());
    }
    client.batch_execute(BEGIN_CLEAR).await?;
    let lock = format!("lock table {} in access exclusive mode", tables.join(", "));
    let outcome = client.batch_execute(&lock).await;
    // Where the connection is lost the rollback fails too. The error that led to it is the one to report.
    let ended = client.batch_execute("rollback").await;
    match outcome {
        Ok(()) => Ok(ended?),
        Err(error) => Err(name_holders(client, error.into()).await),
    }
}

/// The tables that do not belong to superusers.
const TABLES_OF_OTHERS: &str = "
    select c.oid::pg_catalog.regclass::pg_catalog.text
    from pg_catalog.pg_class as c
    join pg_catalog.pg_roles as r on r.oid operator(pg_catalog.=) c.relowner
    where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence <> 't' and not r.rolsuper";

/// As [`check_unlocked`], for all tables of the project and its services. `client` must be a superuser's.
///
/// # Errors
/// As [`check_unlocked`].
pub async fn check_project_unlocked(client: &Client) -> Result<(), MigrateError> {
    let rows = client.query(TABLES_OF_OTHERS, &[]).await?;
    let tables: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    check_unlocked(client, &tables).await
}

/// Says of an emptying that has waited in vain for whom it has waited. Its transaction has ended, and nothing has changed.
pub(super) async fn name_holders(client: &Client, error: MigrateError) -> MigrateError {
    match is_lock_timeout(&error) {
        true => MigrateError::Locked(list_long_transactions(client).await),
        false => error,
    }
}

/// Says of what has failed after an emptying that the database is empty, and for whom it has waited in vain. `client` is in no transaction, and
/// `anew` is how the whole database is made again.
pub async fn explain_emptied(client: &Client, error: MigrateError, anew: &'static str) -> MigrateError {
    let cause = match is_lock_timeout(&error) {
        true => MigrateError::LockedWhileEmpty(list_long_transactions(client).await),
        false => error,
    };
    MigrateError::Emptied {
        cause: Box::new(cause),
        anew,
    }
}

fn is_lock_timeout(error: &MigrateError) -> bool {
    is_refused_as(error, &SqlState::LOCK_NOT_AVAILABLE)
}

fn is_refused_as(error: &MigrateError, code: &SqlState) -> bool {
    match error {
        MigrateError::Postgres(refused) => refused.code() == Some(code),
        _ => false,
    }
}

async fn list_long_transactions(client: &Client) -> String {
    let found = client.query_one(LONG_TRANSACTIONS, &[]).await;
    let sessions = found.and_then(|row| row.try_get::<_, String>(0));
    sessions.unwrap_or_default()
}

/// Drops the roles that the project has created, after [`clear_project`]. Only for a database that the project has for
/// itself, because roles are common to all databases of a server.
///
/// # Errors
/// When a statement fails, for example because a role is still in use.
pub async fn drop_project_roles(client: &Client) -> Result<(), MigrateError> {
    // From PostgreSQL 16 on a role may be dropped by those who administer it: here those that `postgres` has made.
    let rows = client
        .query(
            "select rolname, quote_ident(rolname) from pg_roles
             where not rolsuper
               and (current_setting('server_version_num')::int < 160000
                    or pg_has_role(oid, 'MEMBER WITH ADMIN OPTION'))",
            &[],
        )
        .await?;
    for row in rows.iter().filter(|row| !is_platform_role(row.get(0))) {
        let role: String = row.get(1);
        // Membership lets `postgres` drop what the role owns, which `drop role` requires.
        client
            .batch_execute(&format!(
                "grant {role} to postgres; drop owned by {role} cascade; drop role {role}"
            ))
            .await?;
    }
    Ok(())
}
