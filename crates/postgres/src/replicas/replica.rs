//! One replica: whether it gets reads, and what becomes of a read that was sent to it.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::watch;

use super::metrics::ReplicaMetrics;
use crate::{Database, RequestError, TransactionStage};

/// SQLSTATE `query_canceled`: most often the statement took longer than `statement_timeout` allows.
const QUERY_CANCELED: &str = "57014";

/// Whether a replica gets reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Status {
    /// Why the replica gets no reads, or None while it gets them.
    pub(super) left_out: Option<String>,
    /// How often it was left out. Connections from before are not used again, because they may hang.
    pub(super) times_left_out: u64,
}

/// One replica, shared by all workers.
pub(super) struct Replica {
    pub(super) name: String,
    pub(super) database: Arc<Database>,
    pub(super) metrics: ReplicaMetrics,
    status: watch::Sender<Status>,
}

impl Replica {
    /// A replica that gets no reads before its first check.
    pub(super) fn new(name: String, database: Arc<Database>) -> Self {
        Self {
            metrics: ReplicaMetrics::new(&name),
            name,
            database,
            status: watch::Sender::new(Status {
                left_out: Some("it was not checked yet".to_owned()),
                times_left_out: 0,
            }),
        }
    }

    /// Returns how often it was left out if it gets reads now.
    pub(super) fn available(&self) -> Option<u64> {
        let status = self.status.borrow();
        status.left_out.is_none().then_some(status.times_left_out)
    }

    /// Why it gets no reads; `None` when it gets them.
    pub(super) fn left_out_reason(&self) -> Option<String> {
        self.status.borrow().left_out.clone()
    }

    /// Adds the replica to those that get reads.
    pub(super) fn admit(&self) {
        // Only a change is logged, because this runs after each check.
        let was_left_out = self
            .status
            .send_if_modified(|status| status.left_out.take().is_some());
        if was_left_out {
            tracing::info!(replica = %self.name, "a replica gets reads");
        }
        self.metrics.set_available(true);
    }

    /// Gives it no reads until the next check that it passes. Reads in progress there are run on the primary.
    pub(super) fn leave_out(&self, reason: &str) {
        let was_admitted = self.status.send_if_modified(|status| {
            let was_admitted = status.left_out.is_none();
            let is_news = status.left_out.as_deref() != Some(reason);
            status.times_left_out += u64::from(was_admitted);
            status.left_out = Some(reason.to_owned());
            was_admitted || is_news
        });
        if was_admitted {
            tracing::warn!(replica = %self.name, reason, "a replica gets no reads");
        }
        self.metrics.set_available(false);
    }

    /// Waits for a read on this replica. `None` means that the primary has to run it.
    ///
    /// After nearly every error it does: reads can be repeated, and an error may only mean that the replica has not replayed
    /// a migration, or that it canceled the query in favour of replay. A canceled statement is the exception, because
    /// a slow one would then be slow twice.
    pub(super) async fn settle<T>(
        &self,
        read: impl Future<Output = Result<T, RequestError>>,
    ) -> Option<Result<T, RequestError>> {
        let mut status = self.status.subscribe();
        let result = tokio::select! {
            biased;
            result = read => result,
            // A replica that hangs answers nothing, so the check that it failed ends the wait.
            _ = status.wait_for(|status| status.left_out.is_some()) => {
                self.metrics.failed.inc();
                return None;
            }
        };
        match result {
            Err(RequestError::Database(error)) if error.stage == TransactionStage::ReplicaCheck => {
                self.metrics.behind.inc();
                None
            }
            Err(RequestError::Database(error)) if error.code != QUERY_CANCELED => {
                self.metrics.failed.inc();
                None
            }
            Err(error @ (RequestError::Unavailable(_) | RequestError::Lost(_))) => {
                self.metrics.failed.inc();
                self.leave_out(&error.to_string());
                None
            }
            // All connections to the replica are busy, but it still works.
            Err(RequestError::Timeout) => {
                self.metrics.failed.inc();
                None
            }
            result => {
                self.metrics.answered.inc();
                Some(result)
            }
        }
    }
}
