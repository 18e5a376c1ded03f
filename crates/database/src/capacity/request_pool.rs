//! Configuration → settings of the workers' request pools.

use selvedge_config::{Config, ProcessSettings};
use selvedge_memory::MemoryBudget;
use selvedge_postgres::RequestPoolConfig;
use selvedge_rest::RestConfig;

use super::available_cores;

/// The settings of one worker's request pool, whose large results are counted in `memory`.
pub fn request_pool(config: &Config, memory: &MemoryBudget) -> RequestPoolConfig {
    let (rest, process, _) = config.rest_settings();
    let workers = config.selvedge.workers.unwrap_or_else(available_cores);
    let pool = RequestPoolConfig {
        connections_per_worker: config.selvedge.connections_per_worker,
        slow_query: Some(config.selvedge.limits.slow_query).filter(|limit| !limit.is_zero()),
        memory: memory.clone(),
        ..RequestPoolConfig::default()
    };
    apply_pool_settings(limit_sessions(pool, workers), &rest, &process, workers)
}

/// Lowers the number of connections where PostgreSQL shares the memory and has little of it. A worker may open at least one more than it keeps open,
/// which a request of several round trips needs for itself.
fn limit_sessions(mut pool: RequestPoolConfig, workers: usize) -> RequestPoolConfig {
    if let Some(sessions) = pool.memory.database().most_sessions() {
        let of_worker = (sessions / workers).max(pool.connections_per_worker + 1);
        pool.max_connections_per_worker = pool.max_connections_per_worker.min(of_worker);
    }
    pool
}

/// Applies PostgREST's pool settings (`db-pool`, `db-pool-max-idletime`, …) to one worker's share of the connections.
pub fn apply_pool_settings(
    mut pool: RequestPoolConfig,
    rest: &RestConfig,
    process: &ProcessSettings,
    workers: usize,
) -> RequestPoolConfig {
    if let Some(size) = process.pool_size {
        // At least two: one for ordinary requests, and one for a request that holds its connection over several round
        // trips. With one, such a request would block all others.
        pool.max_connections_per_worker = size.div_ceil(workers).max(2);
        pool.connections_per_worker = pool
            .connections_per_worker
            .min(pool.max_connections_per_worker - 1);
    }
    replace_if_set(&mut pool.acquire_timeout, process.pool_acquisition_timeout);
    replace_if_set(&mut pool.idle_timeout, process.pool_max_idle);
    replace_if_set(&mut pool.max_lifetime, process.pool_max_lifetime);
    // PostgREST's `db-prepared-statements = false`, for connection poolers in transaction mode.
    if !rest.prepared_statements {
        pool.cached_statements = 0;
    }
    pool
}

fn replace_if_set<T>(value: &mut T, other: Option<T>) {
    if let Some(other) = other {
        *value = other;
    }
}

#[cfg(test)]
mod tests {
    use selvedge_memory::DatabasePart;

    use super::*;

    const MIB: usize = 1024 * 1024;

    #[test]
    fn gw_049_a_small_machine_opens_fewer_connections() {
        let most = |bytes, kept| {
            let pool = RequestPoolConfig {
                connections_per_worker: kept,
                memory: MemoryBudget::with_database(usize::MAX, DatabasePart::new(bytes)),
                ..RequestPoolConfig::default()
            };
            limit_sessions(pool, 2).max_connections_per_worker
        };

        // The parts of `start` with 512 MiB, 1 GiB and 2 GiB, and of a home with 256 MiB.
        assert_eq!([128, 256, 512, 32].map(|mib| most(mib * MIB, 2)), [5, 10, 16, 3]);
        assert_eq!(most(128 * MIB, 8), 9);
        let elsewhere = limit_sessions(RequestPoolConfig::default(), 2);
        assert_eq!(elsewhere.max_connections_per_worker, 16);
    }
}
