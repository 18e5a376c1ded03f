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
            "select set_config(name, '{limit_ms}', false) from pg_catalog.pg_settings
             where name = 'idle_in_transaction_session_timeout' and (setting = '0' or setting::bigint > {limit_ms})"
        );
        Box::pin(async move {
            let limited = client.batch_execute(&set_limit).await;
            limited.map_err(HookError::Backend)
        })
    })
}
