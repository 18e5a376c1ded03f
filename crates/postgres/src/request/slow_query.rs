//! Logs statements that took long, so that a slow request can be traced to its SQL.

use std::time::{Duration, Instant};

use super::RequestTransaction;
use super::statement_trace::current_trace_id;

/// Measures a transaction from sending it to its result, without the wait for a connection.
pub(super) struct SlowQueryTimer {
    /// `None` where slow statements are not logged, so that nothing is measured.
    started: Option<(Instant, Duration)>,
}

impl SlowQueryTimer {
    pub(super) fn start(threshold: Option<Duration>) -> Self {
        Self {
            started: threshold.map(|threshold| (Instant::now(), threshold)),
        }
    }

    /// Logs the transaction if it took longer than the threshold. The text names tables and columns but holds no values: these
    /// are parameters.
    pub(super) fn finish(self, transaction: &RequestTransaction<'_>) {
        let Some((started, threshold)) = self.started else {
            return;
        };
        let duration = started.elapsed();
        if duration < threshold {
            return;
        }
        let context = &transaction.context;
        tracing::warn!(
            duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            method = context.method,
            path = context.path,
            role = context.role,
            trace_id = current_trace_id(),
            on_replica = transaction.replayed_to.is_some(),
            sql = %transaction.statement.text,
            "slow query"
        );
    }
}
