//! The session that holds the lock of a job, which PostgreSQL ends when its node does not run any more.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::time::sleep;
use tokio_postgres::Client;

use crate::error::ConsoleError;
use crate::state::ConsoleState;

/// A frozen node acknowledges what PostgreSQL sends but sends nothing itself, so that its session would keep the lock for ever.
/// PostgreSQL ends a session that has been idle for ten seconds.
const END_WITH_NODE: &str = "select
    pg_catalog.set_config('idle_session_timeout', '10s', false),
    pg_catalog.set_config('idle_in_transaction_session_timeout', '10s', false)";

/// How often something is sent on the connection while it has no statement to run. A busy machine may miss several of these.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(2);

/// Opens a connection for locks of jobs.
///
/// # Errors
/// When the database does not respond.
pub(super) async fn connect(state: &ConsoleState) -> Result<Client, ConsoleError> {
    let lock = state.database.dedicated_service().await?;
    lock.batch_execute(END_WITH_NODE).await?;
    Ok(lock)
}

/// Does something that sends nothing on the lock's connection, and keeps that connection from being idle meanwhile. If the connection
/// ends, the work is dropped, because another node may have taken the job.
///
/// # Errors
/// 503 when the connection is lost; otherwise those of `work`.
pub(super) async fn hold_lock_during<T>(
    lock: &Client,
    work: impl Future<Output = Result<T, ConsoleError>>,
) -> Result<T, ConsoleError> {
    match select(pin!(work), pin!(send_heartbeats(lock))).await {
        Either::Left((result, _)) => result,
        Either::Right((error, _)) => Err(error.into()),
    }
}

/// Ends when the connection is lost.
async fn send_heartbeats(lock: &Client) -> tokio_postgres::Error {
    loop {
        sleep(HEARTBEAT_INTERVAL).await;
        if let Err(error) = lock.simple_query("").await {
            return error;
        }
    }
}
