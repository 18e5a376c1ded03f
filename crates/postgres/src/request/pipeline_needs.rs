//! The properties of a transaction by which the pool chooses a connection for it, and what it counts as among those of its client.

use std::time::Duration;

use selvedge_limits::Work;

use super::latency::{Speed, StatementLatencies};
use super::running::Attempt;
use crate::wire::BatchLabel;
use crate::{AccessMode, RequestTransaction, TransactionEnd};

/// A transaction's requirements of its pipeline.
#[derive(Debug, Clone, Copy)]
pub(super) struct PipelineNeeds {
    /// It may be slow, so nothing should be queued behind it.
    pub(super) runs_alone: bool,
    /// It is known to be slow, so opening a connection for it adds little.
    pub(super) is_slow: bool,
    /// Its commit may wait for the disk.
    pub(super) writes: bool,
    /// Hash of the table or function that it is about.
    pub(super) subject: u64,
    /// What it counts as among the statements of its client.
    pub(super) work: Work,
}

/// A write counts as its time divided by this: for most of it, its commit waits for the disk, together with others.
const COMMIT_WAITS: u32 = 4;
/// What a statement that is followed by a second round trip counts as: how long it takes is not remembered.
const CHECKED: Duration = Duration::from_millis(5);

impl PipelineNeeds {
    /// The requirements of a connection that is opened in advance, without a transaction.
    pub(super) const SHARED: Self = Self {
        runs_alone: false,
        is_slow: false,
        writes: false,
        subject: 0,
        work: Work::Short(Duration::ZERO),
    };
    /// A transaction whose end is decided after its rows have been seen.
    pub(super) const EXCLUSIVE: Self = Self {
        runs_alone: true,
        is_slow: false,
        writes: true,
        subject: 0,
        work: Work::Short(CHECKED),
    };

    /// Whether nothing is known of its speed.
    pub(super) fn is_unknown(self) -> bool {
        self.runs_alone && !self.is_slow
    }

    /// What the connection must know of a transaction whose statement has this hash.
    pub(super) fn label(self, statement: u64) -> BatchLabel {
        BatchLabel {
            statement,
            subject: self.subject,
            blocks: self.runs_alone,
            writes: self.writes,
        }
    }

    /// Returns the hash that identifies a transaction's statement, and what the transaction needs.
    pub(super) fn assess_transaction(
        latencies: &mut StatementLatencies,
        transaction: &RequestTransaction<'_>,
        attempt: Attempt,
    ) -> (u64, Self) {
        let statement = latencies.hash_text(&transaction.statement.text);
        let mut speed = latencies.find_speed(statement);
        let mut subject = 0;
        let writes = transaction.access == AccessMode::ReadWrite && transaction.end == TransactionEnd::Commit;
        let work = match speed {
            Speed::Fast(expected) if writes => Work::Short(expected / COMMIT_WAITS),
            Speed::Fast(expected) => Work::Short(expected),
            Speed::Unknown | Speed::Slow => Work::Long,
        };
        let runs_alone = work == Work::Long || attempt == Attempt::Isolated;
        if runs_alone {
            subject = latencies.hash_text(transaction.context.path);
            // A new statement text that calls a function known to be slow.
            if transaction.calls_function
                && speed == Speed::Unknown
                && latencies.find_speed(subject) == Speed::Slow
            {
                speed = Speed::Slow;
            }
        }
        let needs = Self {
            runs_alone,
            is_slow: speed == Speed::Slow,
            writes,
            subject,
            work,
        };
        (statement, needs)
    }
}
