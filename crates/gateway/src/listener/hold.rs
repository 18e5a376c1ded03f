//! Holds requests back while the database is restarted, so that none of them fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::metrics;

/// Time between two looks at the requests in progress.
const POLL: Duration = Duration::from_millis(5);

/// Whether requests are held back. Clones share the state.
#[derive(Debug, Clone, Default)]
pub struct Hold {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    is_held: AtomicBool,
    ended: Notify,
}

impl Hold {
    /// Holds back requests that arrive from now on, and waits at most `patience` until those in progress have ended. Returns whether they have.
    pub async fn begin(&self, patience: Duration) -> bool {
        self.inner.is_held.store(true, Ordering::SeqCst);
        let deadline = Instant::now() + patience;
        while metrics::in_flight() > 0 {
            if Instant::now() > deadline {
                return false;
            }
            tokio::time::sleep(POLL).await;
        }
        true
    }

    /// Lets them go on.
    pub fn end(&self) {
        self.inner.is_held.store(false, Ordering::SeqCst);
        self.inner.ended.notify_waiters();
    }

    /// Whether requests are held back.
    pub(crate) fn is_held(&self) -> bool {
        self.inner.is_held.load(Ordering::Relaxed)
    }

    /// Waits until requests may go on.
    pub(crate) async fn wait(&self) {
        loop {
            let ended = self.inner.ended.notified();
            tokio::pin!(ended);
            // From here on no end is missed.
            ended.as_mut().enable();
            if !self.inner.is_held.load(Ordering::SeqCst) {
                return;
            }
            ended.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn prod_003_requests_that_are_held_back_go_on_together() {
        let hold = Hold::default();
        hold.wait().await;
        hold.begin(Duration::from_secs(60)).await;
        assert!(hold.is_held());

        let waiting =
            [hold.clone(), hold.clone()].map(|hold| actix_web::rt::spawn(async move { hold.wait().await }));
        tokio::task::yield_now().await;
        assert!(waiting.iter().all(|task| !task.is_finished()));
        hold.end();

        for task in waiting {
            task.await.expect("no panic");
        }
        assert!(!hold.is_held());
    }
}
