//! Locks of lists that all databases of a cluster share. `postgres` may hold them as well, and must not keep a start waiting with them.

use std::time::Duration;

use anyhow::Result;
use selvedge_postgres::{PrivilegedLogin, PrivilegedSession};

/// How long statements of others may keep the lock. Then they are ended, because `postgres` could otherwise keep its roles and databases from
/// being changed by leaving a transaction open.
pub(crate) const WAIT_FOR_OTHERS: Duration = Duration::from_secs(10);

/// The same for sessions that take the lock after the first ones were ended.
const WAIT_FOR_FURTHER: Duration = Duration::from_secs(1);

/// Ends the sessions for which the one with this process waits.
pub(crate) const END_BLOCKING: &str = "select pg_catalog.pg_terminate_backend(b.pid)
     from pg_catalog.unnest(pg_catalog.pg_blocking_pids($1)) as b (pid)";

/// Begins a transaction in which nobody else changes these tables of the catalog. `login` leads to the cluster of `superuser`.
///
/// # Errors
/// When the lock cannot be had within a minute, or the connection is lost. The transaction is open then.
pub(crate) async fn lock_catalogs(
    login: &PrivilegedLogin,
    superuser: &PrivilegedSession,
    tables: &str,
) -> Result<()> {
    let own = read_process(superuser).await?;
    // Of two sessions that wait for each other PostgreSQL ends the one whose time is over first.
    let lock = format!(
        "begin; set local lock_timeout = '60s'; set local deadlock_timeout = '60s';
         lock table {tables} in share row exclusive mode"
    );
    let locked = superuser.batch_execute(&lock);
    tokio::pin!(locked);
    let mut patience = WAIT_FOR_OTHERS;
    loop {
        if let Ok(outcome) = tokio::time::timeout(patience, &mut locked).await {
            return Ok(outcome?);
        }
        login.connect().await?.execute(END_BLOCKING, &[&own]).await?;
        patience = WAIT_FOR_FURTHER;
    }
}

/// The number of the process that serves this session.
///
/// # Errors
/// When the connection is lost.
pub(crate) async fn read_process(session: &PrivilegedSession) -> Result<i32> {
    let row = session
        .query_one("select pg_catalog.pg_backend_pid()", &[])
        .await?;
    Ok(row.get(0))
}
