//! How the memory that this process may use is divided.

use std::io;

use selvedge_memory::{MemoryBudget, MemoryLimit, watch_memory};

use crate::config::Config;
use crate::services::available_cores;

/// Most bytes per worker of large responses that clients have not read yet. More would only wait for slow clients.
const MOST_UNREAD_PER_WORKER: usize = 128 * 1024 * 1024;

/// Half of the memory for large responses and bodies, watched, for a service that needs no other part.
///
/// # Errors
/// When the system cannot start a thread.
pub(crate) fn start_memory_budget() -> io::Result<MemoryBudget> {
    let Some(limit) = MemoryLimit::find(None) else {
        return Ok(MemoryBudget::unlimited());
    };
    let budget = MemoryPlan::divide(limit.bytes(), 1).budget;
    watch_memory(limit, budget.clone())?;
    Ok(budget)
}

/// What each part may use of the memory.
#[derive(Debug, Clone)]
pub(crate) struct MemoryPlan {
    /// Large responses and bodies, of all workers together: half of the memory.
    pub(crate) budget: MemoryBudget,
    /// Large responses that clients have not read yet, per worker: the workers' shares of that half.
    pub(super) unread_per_worker: usize,
    /// Pixels of images that are being rendered: a quarter of the memory.
    pub(super) pixels: u64,
}

impl MemoryPlan {
    /// Finds the limit, divides it, and starts the thread that watches how much is in use.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub(crate) fn start(config: &Config) -> io::Result<Self> {
        let limits = &config.selvedge.limits;
        let limit = MemoryLimit::find(limits.memory);
        let workers = config.selvedge.workers.unwrap_or_else(available_cores);
        let bytes = limit.as_ref().map_or(u64::MAX, MemoryLimit::bytes);
        let mut plan = Self::divide(bytes, workers);
        if let Some(unread) = limits.unread_bytes_per_worker {
            plan.unread_per_worker = unread;
        }
        if let Some(limit) = limit {
            watch_memory(limit, plan.budget.clone())?;
        }
        Ok(plan)
    }

    fn divide(bytes: u64, workers: usize) -> Self {
        let half = usize::try_from(bytes / 2).unwrap_or(usize::MAX);
        Self {
            budget: MemoryBudget::new(half),
            unread_per_worker: MOST_UNREAD_PER_WORKER.min(half / workers.max(1)),
            pixels: bytes / 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_memory_is_divided_and_large_memory_changes_nothing() {
        const MIB: usize = 1024 * 1024;

        let small = MemoryPlan::divide(256 * MIB as u64, 2);
        assert_eq!(
            (small.unread_per_worker, small.pixels),
            (64 * MIB, 64 * MIB as u64)
        );
        assert!(small.budget.reserve(128 * MIB).is_some());
        assert!(small.budget.reserve(128 * MIB + 1).is_none());
        let large = MemoryPlan::divide(64 * 1024 * MIB as u64, 8);
        assert_eq!(large.unread_per_worker, 128 * MIB);
    }
}
