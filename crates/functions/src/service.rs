//! The service: all functions of a project, shared by the worker threads of the server.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::time::timeout;

use crate::config::{FunctionKeys, FunctionsConfig};
use crate::native::NativeFunction;
use crate::pool::Pool;
use crate::project::find_function;
use crate::worker::{EndReason, Launcher};

/// How long a stopping server waits for the background work of functions.
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// A worker that uses less memory is not ended for lack of it: an empty one uses half of that.
const LEAST_BYTES: u64 = 96 * 1024 * 1024;

/// The functions of a project. Cheap to clone.
#[derive(Clone)]
pub struct Functions {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    /// Replaced as a whole when the configuration changes, always while `pools` is locked.
    launcher: ArcSwap<Launcher>,
    pub(crate) keys: FunctionKeys,
    native: Vec<Arc<dyn NativeFunction>>,
    pools: Mutex<HashMap<String, Arc<Pool>>>,
}

impl fmt::Debug for Functions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the keys, which are secrets.
        formatter.debug_struct("Functions").finish_non_exhaustive()
    }
}

impl Functions {
    /// Makes the service. Workers are watched on the runtime in which this is called; none is started yet.
    pub fn new(config: FunctionsConfig, keys: FunctionKeys, native: Vec<Arc<dyn NativeFunction>>) -> Self {
        let shared = Shared {
            launcher: ArcSwap::from_pointee(Launcher::new(Arc::new(config))),
            keys,
            native,
            pools: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Uses other settings from the next call on. Present workers end after the requests that they serve.
    pub fn replace_config(&self, config: FunctionsConfig) {
        let replaced = {
            let mut pools = self.shared.lock_pools();
            let launcher = self.shared.launcher().with_config(config);
            self.shared.launcher.store(Arc::new(launcher));
            std::mem::take(&mut *pools)
        };
        for pool in replaced.values() {
            pool.retire(EndReason::EarlyDrop);
        }
    }

    /// Ends the worker that uses most memory, retired ones first: for a server that runs short of it. Returns the function's name and how much
    /// it was; `None` when none uses much.
    pub fn end_largest_worker(&self) -> Option<(String, u64)> {
        let pools: Vec<Arc<Pool>> = self.shared.lock_pools().values().cloned().collect();
        let workers = pools.iter().flat_map(|pool| pool.live_workers());
        let largest = workers
            .filter(|worker| !worker.is_given_up() && worker.memory_bytes() >= LEAST_BYTES)
            .max_by_key(|worker| (worker.retirement().is_some(), worker.memory_bytes()))?;
        largest.give_up();
        Some((largest.slug.clone(), largest.memory_bytes()))
    }

    /// Ends all workers. Their background work gets some seconds. Call it when no request is in flight any more.
    pub async fn drain(&self) {
        let pools: Vec<Arc<Pool>> = self.shared.lock_pools().values().cloned().collect();
        let mut workers = Vec::new();
        for pool in pools {
            pool.retire(EndReason::Termination);
            workers.extend(pool.live_workers());
        }
        let all_ended = async {
            for worker in workers {
                worker.wait_until_ended().await;
            }
        };
        if timeout(DRAIN_TIME, all_ended).await.is_err() {
            tracing::warn!("functions with background work were cut off");
        }
        self.shared.launcher().remove_folders();
    }
}

impl Shared {
    /// The present settings, and what starts workers with them.
    pub(crate) fn launcher(&self) -> Arc<Launcher> {
        self.launcher.load_full()
    }

    /// The Rust function of that name.
    pub(crate) fn find_native(&self, slug: &str) -> Option<&Arc<dyn NativeFunction>> {
        self.native.iter().find(|function| function.slug() == slug)
    }

    /// Returns the workers of a function; `None` when there is no such function, or it is disabled.
    pub(crate) fn find_pool(&self, slug: &str) -> Option<Arc<Pool>> {
        let launcher = self.launcher();
        let known = self.lock_pools().get(slug).cloned();
        match known {
            // In development a function may be removed while the server runs.
            Some(pool) if !launcher.config.reload => return Some(pool),
            _ => {}
        }
        let Some(function) = find_function(&launcher.config, slug) else {
            if let Some(removed) = self.lock_pools().remove(slug) {
                removed.retire(EndReason::EarlyDrop);
            }
            return None;
        };
        let mut pools = self.lock_pools();
        if !Arc::ptr_eq(&launcher, &self.launcher()) {
            // The settings were replaced while the function was looked up, so what was found may be wrong.
            drop(pools);
            return self.find_pool(slug);
        }
        let pool = pools
            .entry(slug.to_owned())
            .or_insert_with(|| Arc::new(Pool::new(launcher, function)));
        Some(Arc::clone(pool))
    }

    fn lock_pools(&self) -> MutexGuard<'_, HashMap<String, Arc<Pool>>> {
        // A panic cannot leave the map half changed.
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
