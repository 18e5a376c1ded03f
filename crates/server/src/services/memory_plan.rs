//! How the memory that this process may use is divided.

use std::io;
use std::sync::{Arc, OnceLock};

use selvedge_config::{Config, Mode};
use selvedge_database::capacity::{MemoryParts, available_cores};
use selvedge_functions::Functions;
use selvedge_limits::ShareLimit;
use selvedge_memory::{DatabasePart, MemoryBudget, MemoryLimit, watch_memory};

use super::memory_relief::MemoryRelief;

/// Most bytes per worker of large responses that clients have not read yet. More would only wait for slow clients.
const MOST_UNREAD_PER_WORKER: usize = 128 * 1024 * 1024;

/// Bytes of memory for each connection that one address may have open while others have few. A request that is arriving takes 20 to 50 KiB in the
/// server and about as much in the kernel, so all of them together take less than half of the memory.
const MEMORY_PER_CONNECTION: u64 = 256 * 1024;

/// Half of the memory for large responses and bodies, watched, for a service that needs no other part.
///
/// # Errors
/// When the system cannot start a thread.
pub(crate) fn start_memory_budget() -> io::Result<MemoryBudget> {
    let Some(limit) = MemoryLimit::find(None) else {
        return Ok(MemoryBudget::unlimited());
    };
    let budget = MemoryPlan::divide(limit.bytes(), 1, Mode::Production, DatabasePart::unlimited()).budget;
    watch_memory(limit, budget.clone(), |_| false)?;
    Ok(budget)
}

/// Watches the memory of the control group in which this process keeps a PostgreSQL running without a server: statements are given up when it
/// runs short. The watch ends when what is returned is dropped.
///
/// # Errors
/// When the system cannot start a thread.
pub(crate) fn watch_sessions() -> io::Result<MemoryBudget> {
    let budget = MemoryBudget::unlimited();
    if let Some(limit) = MemoryLimit::find(None).filter(MemoryLimit::is_of_group) {
        let mut relief = MemoryRelief::new(limit.bytes(), Arc::default());
        watch_memory(limit, budget.clone(), move |shortage| relief.relieve(shortage))?;
    }
    Ok(budget)
}

/// What each part may use of the memory.
#[derive(Debug, Clone)]
pub(crate) struct MemoryPlan {
    /// Large responses and bodies, of all workers together: half of the memory, or three eighths beside a cluster that takes part of it.
    pub(crate) budget: MemoryBudget,
    /// Large responses that clients have not read yet, per worker: the workers' shares of that part.
    pub(super) unread_per_worker: usize,
    /// Pixels of images that are being rendered: a quarter of the memory.
    pub(super) pixels: u64,
    /// Number of open connections above which the limit of each address applies, so that the connections of one address cannot fill the memory.
    connections: usize,
    /// See [`MemoryPlan::watch_functions`].
    functions: Arc<OnceLock<Functions>>,
}

impl MemoryPlan {
    /// Finds the limit, divides it, and starts the thread that watches how much is in use.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub(crate) fn start(config: &Config, mode: Mode) -> io::Result<Self> {
        let limits = &config.selvedge.limits;
        // Beside a PostgreSQL of its own the server has a part of the memory, and watches itself alone.
        let parts = MemoryParts::of_home(config);
        let limit = MemoryLimit::find(limits.memory.or(parts.map(|parts| parts.server)));
        let workers = config.selvedge.workers.unwrap_or_else(available_cores);
        let bytes = limit.as_ref().map_or(u64::MAX, MemoryLimit::bytes);
        let database = match (mode, parts) {
            // The cluster of a start is on this machine, and in the same control group.
            (Mode::Development, _) => DatabasePart::new(bytes_of(bytes / 4)),
            (Mode::Production, Some(parts)) => DatabasePart::new(bytes_of(parts.sessions)),
            (Mode::Production, None) => DatabasePart::unlimited(),
        };
        let mut plan = Self::divide(bytes, workers, mode, database);
        if let Some(unread) = limits.unread_bytes_per_worker {
            plan.unread_per_worker = unread;
        }
        if let Some(limit) = limit {
            let mut relief = MemoryRelief::new(limit.bytes(), Arc::clone(&plan.functions));
            watch_memory(limit, plan.budget.clone(), move |shortage| {
                relief.relieve(shortage)
            })?;
        }
        Ok(plan)
    }

    /// Names the service whose largest worker ends when memory runs short.
    pub(super) fn watch_functions(&self, functions: Option<&Functions>) {
        if let Some(functions) = functions {
            // There is one for each plan.
            let _ = self.functions.set(functions.clone());
        }
    }

    /// The limit of one address's connections. Where others have few it may have more, but no more than the memory can hold.
    pub(super) fn limit_connections(&self, configured: Option<ShareLimit>) -> Option<ShareLimit> {
        configured.map(|limit| ShareLimit {
            counts_from: limit.counts_from.min(self.connections),
            ..limit
        })
    }

    fn divide(bytes: u64, workers: usize, mode: Mode, database: DatabasePart) -> Self {
        // A start needs three eighths for its cluster.
        let most = match mode {
            Mode::Development => bytes_of(bytes / 8 * 3),
            Mode::Production => bytes_of(bytes / 2),
        };
        Self {
            budget: MemoryBudget::with_database(most, database),
            unread_per_worker: MOST_UNREAD_PER_WORKER.min(most / workers.max(1)),
            pixels: bytes / 4,
            connections: bytes_of(bytes / MEMORY_PER_CONNECTION),
            functions: Arc::default(),
        }
    }
}

fn bytes_of(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_memory_is_divided_and_large_memory_changes_nothing() {
        const MIB: usize = 1024 * 1024;
        let divide =
            |bytes, workers, mode| MemoryPlan::divide(bytes, workers, mode, DatabasePart::unlimited());

        let beside_cluster = divide(256 * MIB as u64, 2, Mode::Development);
        assert!(beside_cluster.budget.reserve(96 * MIB).is_some());
        assert!(beside_cluster.budget.reserve(96 * MIB + 1).is_none());
        let small = divide(256 * MIB as u64, 2, Mode::Production);
        assert_eq!(
            (small.unread_per_worker, small.pixels),
            (64 * MIB, 64 * MIB as u64)
        );
        assert!(small.budget.reserve(128 * MIB).is_some());
        assert!(small.budget.reserve(128 * MIB + 1).is_none());
        let default = ShareLimit {
            most: 256,
            counts_from: 5000,
        };
        let configured = ShareLimit {
            most: 9000,
            counts_from: 0,
        };
        assert_eq!(
            small
                .limit_connections(Some(default))
                .map(|limit| limit.counts_from),
            Some(1024)
        );
        assert_eq!(small.limit_connections(Some(configured)), Some(configured));
        assert_eq!(small.limit_connections(None), None);
        let large = divide(64 * 1024 * MIB as u64, 8, Mode::Development);
        assert_eq!(large.unread_per_worker, 128 * MIB);
        assert_eq!(large.limit_connections(Some(default)), Some(default));
    }
}
