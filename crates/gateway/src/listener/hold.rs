//! Holds requests back while the database is restarted, so that none of them fails. Where that takes long they are refused in the end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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
    /// Until when requests wait. Later ones are refused at once: each would keep its connection, and its client has given up by then.
    waits_until: Mutex<Option<Instant>>,
    ended: Notify,
}

impl Hold {
    /// Holds back requests that arrive from now on, for `most` at most, and waits at most `patience` until those in progress have ended. Returns
    /// whether they have.
    pub async fn begin(&self, patience: Duration, most: Duration) -> bool {
        *self.lock_limit() = Instant::now().checked_add(most);
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

    /// Waits until requests may go on. Returns whether they may; if not, the database takes longer than requests wait.
    pub(crate) async fn wait(&self) -> bool {
        let limit = *self.lock_limit();
        let Some(limit) = limit else {
            self.wait_for_end().await;
            return true;
        };
        tokio::time::timeout_at(limit.into(), self.wait_for_end())
            .await
            .is_ok()
    }

    fn lock_limit(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.inner
            .waits_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    async fn wait_for_end(&self) {
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

    const LONG: Duration = Duration::from_secs(60);

    #[actix_web::test]
    async fn prod_003_requests_that_are_held_back_go_on_together() {
        let hold = Hold::default();
        assert!(hold.wait().await);
        hold.begin(LONG, LONG).await;
        assert!(hold.is_held());

        let waiting =
            [hold.clone(), hold.clone()].map(|hold| actix_web::rt::spawn(async move { hold.wait().await }));
        tokio::task::yield_now().await;
        assert!(waiting.iter().all(|task| !task.is_finished()));
        hold.end();

        for task in waiting {
            assert!(task.await.expect("no panic"));
        }
        assert!(!hold.is_held());
    }

    #[actix_web::test]
    async fn prod_003_requests_are_refused_when_the_database_takes_longer_than_they_wait() {
        let hold = Hold::default();
        hold.begin(LONG, Duration::from_millis(20)).await;

        let waiting = hold.clone();
        let waited = actix_web::rt::spawn(async move { waiting.wait().await });
        assert!(!waited.await.expect("no panic"));
        // Requests that come after the limit are refused at once.
        assert!(!hold.wait().await);
        hold.end();

        assert!(hold.wait().await);
        hold.begin(LONG, LONG).await;
        let next = hold.clone();
        let next = actix_web::rt::spawn(async move { next.wait().await });
        tokio::task::yield_now().await;
        assert!(!next.is_finished(), "a new restart is waited for anew");
        hold.end();
        assert!(next.await.expect("no panic"));
    }
}
