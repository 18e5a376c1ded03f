//! Keeps the connections of pools that several worker threads share alive until the last of the threads has ended.
//!
//! A connection is driven by the runtime of the thread that opened it, and a runtime that ends takes its connections along, also
//! those on which another thread waits for a result. While the server runs, that is the cheapest way: a statement on a connection
//! of the own thread wakes no other thread. Before the threads end, [`SharedPools::move_to`] replaces all connections by ones that
//! a lasting runtime drives.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use deadpool_postgres::{Hook, HookError, Pool, WeakPool};
use tokio::runtime::Handle;

/// How often connections that were returned to their pools are looked for.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// A connection that was about to enter its pool when the move began gets a time of creation just after it. Younger ones than
/// this are therefore replaced as well.
const CREATION_DELAY: Duration = Duration::from_millis(10);

/// The pools of a database, and who drives their connections.
#[derive(Clone, Default)]
pub(crate) struct SharedPools(Arc<Inner>);

#[derive(Default)]
struct Inner {
    pools: Mutex<Vec<WeakPool>>,
    lasting: OnceLock<LastingRuntime>,
    /// Has a clone for each pooled connection that was opened before the move and is still open.
    opened_before: Arc<()>,
}

/// The runtime that drives new connections since the move.
struct LastingRuntime {
    handle: Handle,
    since: Instant,
}

/// Counts a pooled connection that was opened before the move, until it is dropped.
pub(crate) struct OpenedBefore(#[expect(dead_code, reason = "counted, not read")] Arc<()>);

impl SharedPools {
    /// The runtime that has to drive new connections; `None` before the move, when it is that of the caller.
    pub(crate) fn lasting_runtime(&self) -> Option<Handle> {
        self.0.lasting.get().map(|lasting| lasting.handle.clone())
    }

    /// Counts a connection that the caller's runtime drives.
    pub(crate) fn count_opened(&self) -> OpenedBefore {
        OpenedBefore(Arc::clone(&self.0.opened_before))
    }

    /// Adds a pool to those whose connections are replaced by the move.
    pub(crate) fn add(&self, pool: &Pool) {
        let mut pools = self.0.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.retain(|pool| pool.upgrade().is_some());
        pools.push(pool.weak());
    }

    /// A hook that closes connections from before the move instead of handing them out.
    pub(crate) fn replace_before_use(&self) -> Hook {
        let pools = self.clone();
        Hook::sync_fn(move |_, metrics| match pools.is_from_before(metrics.created) {
            true => Err(HookError::message("opened by a thread that ends")),
            false => Ok(()),
        })
    }

    fn is_from_before(&self, created: Instant) -> bool {
        self.0
            .lasting
            .get()
            .is_some_and(|lasting| created < lasting.since)
    }

    /// Makes `runtime` drive all connections that are opened from now on, and closes the others as soon as they are returned. Ends
    /// when all of them are closed, or after `limit`.
    pub(crate) async fn move_to(&self, runtime: Handle, limit: Duration) {
        let since = Instant::now() + CREATION_DELAY;
        // A second move changes nothing: the first runtime stays.
        self.0.lasting.get_or_init(|| LastingRuntime {
            handle: runtime,
            since,
        });
        if tokio::time::timeout(limit, self.close_all()).await.is_err() {
            tracing::warn!(
                "database connections are used for a long time: they end with the thread that has opened them"
            );
        }
    }

    /// Closes connections from before the move that nobody uses.
    fn close_idle(&self) {
        let pools = self.0.pools.lock().unwrap_or_else(PoisonError::into_inner);
        for pool in pools.iter().filter_map(WeakPool::upgrade) {
            pool.retain(|_, metrics| !self.is_from_before(metrics.created));
        }
    }

    async fn close_all(&self) {
        loop {
            self.close_idle();
            if Arc::strong_count(&self.0.opened_before) == 1 {
                return;
            }
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
    }
}
