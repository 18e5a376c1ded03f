//! What becomes of a transaction that fails or does not end: it is tried again, given up, or its error is shown.

use std::time::Duration;

use super::pipeline::Pipeline;
use super::running::{Attempt, Failure};
use super::time_limit::timeout_error;
use crate::{RequestError, RoleSettings};

/// Whether a failed transaction is tried again, then carefully, so that it fails in this way at most once.
pub(super) fn may_repeat(failure: &Failure, pipeline: &Pipeline, attempt: &mut Attempt) -> bool {
    match failure {
        Failure::StaleStatement => pipeline.forget_statements(),
        // A new connection may find the primary, where a proxy or a list of hosts leads to it.
        Failure::ChangedSession | Failure::Standby => pipeline.retire(),
        Failure::Error(_) => return false,
    }
    std::mem::replace(attempt, Attempt::Isolated) == Attempt::Shared
}

/// Waits for the result of a transaction. After `limit` its connection takes no other, and is closed.
pub(super) async fn wait_within<T>(
    limit: Option<Duration>,
    pipeline: &Pipeline,
    result: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let Some(limit) = limit else {
        return result.await;
    };
    tokio::time::timeout(limit, result).await.unwrap_or_else(|_| {
        pipeline.retire();
        Err(Failure::Error(timeout_error()))
    })
}

/// The error that the caller gets, which tells nothing of the nodes of Citus.
pub(super) fn show_failure(failure: Failure, roles: &RoleSettings) -> RequestError {
    let error = failure.into_error();
    match roles.citus() {
        Some(nodes) => nodes.hide_in(error),
        None => error,
    }
}
