//! Equal checks that are requested at the same time share one transaction.
//!
//! When a thousand sockets of one user rejoin their private topic after a restart, the policies are evaluated once instead
//! of a thousand times. Only checks in progress are shared; a check that begins after another has ended runs again, so the
//! next join sees a changed policy.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};

/// A check in progress, which several callers may wait for.
type Running<V> = Shared<BoxFuture<'static, V>>;

/// The checks in progress by their question. Cheap to clone; all clones share them.
pub(super) struct SharedChecks<Q, V: Clone> {
    running: Arc<Mutex<HashMap<Q, WeakShared<BoxFuture<'static, V>>>>>,
}

impl<Q, V: Clone> Clone for SharedChecks<Q, V> {
    fn clone(&self) -> Self {
        Self {
            running: Arc::clone(&self.running),
        }
    }
}

impl<Q: Eq + Hash + Clone, V: Clone> SharedChecks<Q, V> {
    pub(super) fn new() -> Self {
        Self {
            running: Arc::default(),
        }
    }

    /// Returns the result of a check: of an equal one in progress, or else of the one that `begin` starts. A caller may be
    /// cancelled at any time; the check is dropped with its last caller.
    pub(super) async fn share(&self, question: Q, begin: impl FnOnce() -> BoxFuture<'static, V>) -> V {
        let check = self.join_or_start(&question, begin);
        let answer = check.clone().await;
        let mut running = self.lock();
        // Another check of this question may have started meanwhile; only this one is removed.
        let is_this_check = running
            .get(&question)
            .is_some_and(|other| other.upgrade().is_none_or(|other| other.ptr_eq(&check)));
        if is_this_check {
            running.remove(&question);
        }
        answer
    }

    fn join_or_start(&self, question: &Q, begin: impl FnOnce() -> BoxFuture<'static, V>) -> Running<V> {
        let mut running = self.lock();
        // A finished check exists until its last caller has read the result. New callers must not get that result.
        let in_progress = running.get(question).and_then(WeakShared::upgrade);
        if let Some(check) = in_progress.filter(|check| check.peek().is_none()) {
            return check;
        }
        let check = begin().shared();
        if let Some(weak) = check.downgrade() {
            running.insert(question.clone(), weak);
        }
        check
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Q, WeakShared<BoxFuture<'static, V>>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Questions with a check in progress, including checks whose waiters have all stopped waiting.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.lock().len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::{join, poll};
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn realtime_017_equal_checks_at_the_same_time_are_run_once() {
        let checks = SharedChecks::new();
        let started = AtomicUsize::new(0);
        let begin = || {
            let number = started.fetch_add(1, Ordering::Relaxed);
            async move {
                tokio::task::yield_now().await;
                number
            }
            .boxed()
        };

        let (one, two, other) = join!(
            checks.share("a", begin),
            checks.share("a", begin),
            checks.share("b", begin)
        );
        let later = checks.share("a", begin).await;

        assert_eq!((one, two, other, later), (0, 0, 1, 2));
        assert_eq!(checks.len(), 0);
    }

    #[tokio::test]
    async fn realtime_017_a_caller_that_stops_waiting_does_not_end_the_check_of_others() {
        let checks = SharedChecks::new();
        let (answer, answered) = oneshot::channel();
        let mut first = Box::pin(checks.share("a", || async { answered.await.expect("an answer") }.boxed()));
        let mut second = Box::pin(checks.share("a", || async { 0 }.boxed()));
        assert!(poll!(&mut first).is_pending());
        assert!(poll!(&mut second).is_pending());

        drop(first);
        answer.send(7).expect("the check goes on");

        assert_eq!(second.await, 7);
    }

    #[tokio::test]
    async fn realtime_017_a_check_that_everybody_gave_up_is_started_anew() {
        let checks = SharedChecks::new();
        let mut waiting = Box::pin(checks.share("a", || std::future::pending().boxed()));
        assert!(poll!(&mut waiting).is_pending());

        drop(waiting);

        assert_eq!(checks.share("a", || async { 1 }.boxed()).await, 1);
        assert_eq!(checks.len(), 0);
    }
}
