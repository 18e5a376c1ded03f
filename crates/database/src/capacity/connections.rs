//! How many connections to the database a node may open, and whether all nodes together fit.

use selvedge_config::Config;
use selvedge_database_gate::MAX_SESSIONS;
use selvedge_memory::MemoryBudget;
use tokio_postgres::{Client, Error};

use super::request_pool::request_pool;

/// Connections for one task each: health, notifications, the watch of the primary, the replication stream and Realtime's checks, removal and
/// sweeps of objects, jobs and their leader, mail, the generator, `/pg` and the console.
const OF_TASKS: usize = 16;

/// Connections in use, those that may be used, and the nodes that are connected.
const COUNT: &str = "select pg_catalog.current_setting('max_connections')::pg_catalog.int4 \
      - pg_catalog.current_setting('superuser_reserved_connections')::pg_catalog.int4 \
      - coalesce(pg_catalog.current_setting('reserved_connections', true), '0')::pg_catalog.int4, \
    pg_catalog.count(*)::pg_catalog.int4, \
    (pg_catalog.count(distinct coalesce(host(a.client_addr), 'local')) filter (where a.usename = 'authenticator' \
      and a.application_name like 'selvedge%' and a.pid <> pg_catalog.pg_backend_pid()))::pg_catalog.int4 \
    from pg_catalog.pg_stat_activity a where a.backend_type = 'client backend'";

/// What the server of the database allows, and what its nodes may need.
pub struct ConnectionCount {
    /// Those that the server allows to others than a superuser and members of `pg_use_reserved_connections` (since PostgreSQL 16).
    pub allowed: usize,
    pub used: usize,
    /// Nodes that are connected, told by their addresses; at least this one.
    pub nodes: usize,
    /// Those that each node may open.
    pub of_node: usize,
}

impl ConnectionCount {
    /// Asks the database for these numbers.
    ///
    /// # Errors
    /// When the query fails.
    pub async fn read(config: &Config, client: &Client) -> Result<Self, Error> {
        let row = client.query_one(COUNT, &[]).await?;
        let number = |index| -> Result<usize, Error> {
            Ok(usize::try_from(row.try_get::<_, i32>(index)?).unwrap_or(0))
        };
        Ok(Self {
            allowed: number(0)?,
            used: number(1)?,
            nodes: number(2)?.max(1),
            of_node: most_connections(config),
        })
    }

    /// Connections that all nodes together may open.
    pub fn most(&self) -> usize {
        self.nodes * self.of_node
    }

    /// Whether all nodes together may need more than the server allows.
    pub fn exceeds(&self) -> bool {
        self.most() > self.allowed
    }
}

/// The connections that a node may open to the primary while statements run long.
pub fn most_connections(config: &Config) -> usize {
    // A busy worker opens more connections than it keeps, and all workers may be busy at once.
    let workers = config.selvedge.workers.unwrap_or_else(super::available_cores);
    let of_worker = request_pool(config, &MemoryBudget::unlimited()).max_connections_per_worker;
    let jobs = &config.selvedge.jobs;
    let of_mails = usize::from(jobs.mail_table.is_some()) + usize::from(jobs.unsubscribe.is_some());
    let has_gate = config.selvedge.database_gate.is_some() && config.selvedge.database_url.is_none();
    let of_gate = if has_gate { MAX_SESSIONS } else { 0 };
    workers * of_worker + 2 * config.selvedge.service_connections + OF_TASKS + of_mails + of_gate
}
