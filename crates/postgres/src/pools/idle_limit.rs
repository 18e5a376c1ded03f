//! Ends transactions whose process has stopped between two statements.
//!
//! A frozen process (SIGSTOP, a virtual machine that is paused) keeps its connections, and with them the locks of its open
//! transactions: other nodes would wait for a row until it wakes up.

use std::time::Duration;

use deadpool_postgres::{Hook, HookError};

/// A hook that limits for each new connection how long a transaction may wait for its next statement. By a statement, because
/// poolers refuse most settings at login. A shorter limit of the role, the database or the server stays.
pub(crate) fn limit_idle_transactions(limit: Duration) -> Hook {
    let limit_ms = limit.as_millis();
    Hook::async_fn(move |client, _| {
        let set_limit = format!(
            // The database's search path may be the project's, and the login one with more rights than `postgres`.
            "select pg_catalog.set_config(name, '{limit_ms}'::pg_catalog.text, false) from pg_catalog.pg_settings
             where name operator(pg_catalog.=) 'idle_in_transaction_session_timeout'::pg_catalog.text and (
               setting operator(pg_catalog.=) '0'::pg_catalog.text
               or setting::pg_catalog.int8 operator(pg_catalog.>) {limit_ms}::pg_catalog.int8
             )"
        );
        Box::pin(async move {
            let limited = client.batch_execute(&set_limit).await;
            limited.map_err(HookError::Backend)
        })
    })
}
