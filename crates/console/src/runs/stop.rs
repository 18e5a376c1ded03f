//! Ends a run early when it is cancelled, its client has disconnected, or its time limit is reached.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

/// The reason for which a run ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopReason {
    /// The account has cancelled the run.
    Cancelled,
    /// The client has closed the connection, so that the result is not needed.
    ClientGone,
    /// The time limit of the run is over.
    TimedOut,
}

/// Watches for the reasons that may end a run.
pub(super) struct Stop {
    cancelled: Arc<Notify>,
    deadline: Instant,
    reason: Option<StopReason>,
}

impl Stop {
    pub(super) fn new(cancelled: Arc<Notify>, limit: Duration) -> Self {
        Self {
            cancelled,
            deadline: Instant::now() + limit,
            reason: None,
        }
    }

    /// Returns the reason; `None` while the run may continue.
    pub(super) fn reason(&self) -> Option<StopReason> {
        self.reason
    }

    /// Waits for the first reason. After that it never returns again.
    pub(super) async fn wait<T>(&mut self, answer: &mpsc::Sender<T>) -> StopReason {
        if self.reason.is_some() {
            std::future::pending::<()>().await;
        }
        let reason = tokio::select! {
            () = self.cancelled.notified() => StopReason::Cancelled,
            () = answer.closed() => StopReason::ClientGone,
            () = tokio::time::sleep_until(self.deadline) => StopReason::TimedOut,
        };
        self.reason = Some(reason);
        reason
    }
}
