//! The properties of a transaction by which the pool chooses a connection for it.

use selvedge_limits::Turn;

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
}

impl PipelineNeeds {
    /// The requirements of a connection that is opened in advance, without a transaction.
    pub(super) const SHARED: Self = Self {
        runs_alone: false,
        is_slow: false,
        writes: false,
        subject: 0,
    };
    /// A transaction whose end is decided after its rows have been seen.
    pub(super) const EXCLUSIVE: Self = Self {
        runs_alone: true,
        is_slow: false,
        writes: true,
        subject: 0,
    };

    /// What the pool has to know about the transaction while it is in flight. `statement` is the hash of its statement.
    pub(super) fn label(self, statement: u64, turn: Option<Box<Turn>>) -> BatchLabel {
        BatchLabel {
            statement,
            subject: self.subject,
            blocks: self.runs_alone,
            writes: self.writes,
            _turn: turn,
        }
    }

    /// Whether nothing is known of its speed.
    pub(super) fn is_unknown(self) -> bool {
        self.runs_alone && !self.is_slow
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
        if speed != Speed::Fast || attempt == Attempt::Isolated {
            subject = latencies.hash_text(transaction.context.path);
            // A new statement text that calls a function known to be slow.
            if transaction.calls_function
                && speed == Speed::Unknown
                && latencies.find_speed(subject) == Speed::Slow
            {
                speed = Speed::Slow;
            }
        }
        let work = Self {
            runs_alone: speed != Speed::Fast || attempt == Attempt::Isolated,
            is_slow: speed == Speed::Slow,
            writes: transaction.access == AccessMode::ReadWrite && transaction.end == TransactionEnd::Commit,
            subject,
        };
        (statement, work)
    }
}
