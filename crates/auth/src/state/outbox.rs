//! The signal that wakes the delivery loop. It stands apart from the loop, because the shared state holds it.

use tokio::sync::Notify;

/// Wakes the delivery loop of this process when a request has queued a mail.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    queued: Notify,
}

impl Outbox {
    /// Wakes the loop; to be called after the mail's row is committed.
    pub(crate) fn wake(&self) {
        self.queued.notify_one();
    }

    /// Completes at the next call of [`Self::wake`], or at once if one has come since the last wait.
    pub(crate) async fn wait(&self) {
        self.queued.notified().await;
    }
}
