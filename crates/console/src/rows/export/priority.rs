//! The priority of an export beside requests of the API.

use std::convert::Infallible;
use std::time::Duration;

use selvedge_gateway::metrics::request_counts;
use selvedge_postgres::cluster::lower_backend_priority;
use tokio::time::sleep;
use tokio_postgres::Transaction;

use crate::error::ConsoleError;
use crate::state::{ConsoleMode, ConsoleState};

/// The time between two counts of the requests.
const COUNT_INTERVAL: Duration = Duration::from_millis(100);
/// The API counts as busy when it has answered this many requests in one interval.
const BUSY_REQUESTS: u64 = 10;

/// Returns the process of an export's session if its priority can be changed: that of the embedded cluster, which is on this machine.
pub(super) async fn find_backend(
    state: &ConsoleState,
    transaction: &Transaction<'_>,
) -> Result<Option<i32>, ConsoleError> {
    if state.config.mode != ConsoleMode::Start {
        return Ok(None);
    }
    let row = transaction
        .query_one("select pg_catalog.pg_backend_pid()", &[])
        .await?;
    Ok(Some(row.get(0)))
}

/// Lowers the priority of an export once the API is busy, and never returns. A request, which takes a fraction of a millisecond, would
/// otherwise wait for the milliseconds in which PostgreSQL prints rows for the export.
///
/// Not from the beginning: the priority cannot be raised again, and on a machine that other programs keep busy such an export takes
/// long.
pub(super) async fn lower_priority_when_busy(backend: Option<i32>) -> Infallible {
    if let Some(backend) = backend {
        wait_until_busy().await;
        if let Err(error) = lower_backend_priority(backend).await {
            tracing::debug!(%error, "an export has the priority of requests");
        }
    }
    std::future::pending().await
}

async fn wait_until_busy() {
    let mut before = count_requests();
    loop {
        sleep(COUNT_INTERVAL).await;
        let now = count_requests();
        if now.saturating_sub(before) >= BUSY_REQUESTS {
            return;
        }
        before = now;
    }
}

/// Counts the requests that all services have answered since the start.
fn count_requests() -> u64 {
    request_counts().by_service.iter().flatten().sum()
}
