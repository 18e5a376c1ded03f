//! Handles failed transactions: retries them, gives them up after a time limit, and prepares their errors for clients.

use std::pin::Pin;
use std::time::Duration;

use super::pipeline::Pipeline;
use super::running::{Attempt, Failure};
use super::time_limit::timeout_error;
use crate::{RequestError, RoleSettings};

/// Whether a failed transaction is retried. The retry is isolated (without prepared statements, alone on a connection), so
/// it cannot fail for the same reason.
pub(super) fn may_repeat(failure: &Failure, pipeline: &Pipeline, attempt: &mut Attempt) -> bool {
    match failure {
        Failure::StaleStatement => pipeline.forget_statements(),
        // A new connection may reach the primary, by a proxy or the next host of the URL.
        Failure::ChangedSession | Failure::Standby | Failure::EndedByOther(_) => pipeline.retire(),
        // The caller sends another statement instead where it can.
        Failure::NeedsFallback | Failure::Error(_) => return false,
    }
    std::mem::replace(attempt, Attempt::Isolated) == Attempt::Shared
}

/// Waits for the result of a transaction. After `limit` it fails with a timeout error, and its connection is closed.
pub(super) async fn wait_within<T>(
    limit: Option<Duration>,
    pipeline: &Pipeline,
    result: Pin<&mut impl Future<Output = Result<T, Failure>>>,
) -> Result<T, Failure> {
    let Some(limit) = limit else {
        return result.await;
    };
    tokio::time::timeout(limit, result).await.unwrap_or_else(|_| {
        pipeline.retire();
        Err(Failure::Error(timeout_error()))
    })
}

/// Converts a failure to the caller's error, without addresses of Citus's nodes.
pub(super) fn show_failure(failure: Failure, roles: &RoleSettings) -> RequestError {
    let error = failure.into_error();
    match roles.citus() {
        Some(nodes) => nodes.hide_in(error),
        None => error,
    }
}
