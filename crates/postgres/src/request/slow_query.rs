//! Logs statements that took long, so that a slow request can be traced to its SQL.

use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use selvedge_limits::LogRate;

use super::RequestTransaction;
use super::statement_trace::current_trace_id;

/// Longest statement and path that are logged, in bytes: strangers choose their length.
const LONGEST_STATEMENT: usize = 4096;
const LONGEST_PATH: usize = 256;
/// Bytes of such lines that are logged in a second.
const BYTES_PER_SECOND: usize = 64 * 1024;

static RATE: LazyLock<Mutex<LogRate>> = LazyLock::new(|| Mutex::new(LogRate::new(BYTES_PER_SECOND)));

/// The beginning of a text.
fn cut(text: &str, longest: usize) -> &str {
    text.get(..text.floor_char_boundary(longest)).unwrap_or_default()
}

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
        let sql = cut(&transaction.statement.text, LONGEST_STATEMENT);
        let path = cut(context.path, LONGEST_PATH);
        let passed = RATE
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pass(sql.len() + path.len());
        let Some(omitted) = passed else {
            return;
        };
        tracing::warn!(
            duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            method = context.method,
            path,
            role = context.role,
            trace_id = current_trace_id(),
            on_replica = transaction.replayed_to.is_some(),
            // Lines before this one that were too many.
            omitted = (omitted > 0).then_some(omitted),
            sql = %sql,
            "slow query"
        );
    }
}
