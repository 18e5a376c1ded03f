//! Configuration → the replicas from which REST reads.

use anyhow::Result;
use selvedge_config::{Config, ReplicasSection};
use selvedge_database::capacity::request_pool;
use selvedge_database::external::ExternalDatabase;
use selvedge_memory::MemoryBudget;
use selvedge_postgres::{ReplicaConfig, ReplicasConfig, RequestPoolConfig};

/// The settings of the replicas.
///
/// # Errors
/// A URL of another form than that of `DATABASE_URL`.
pub(in crate::services) fn replicas_config(
    config: &Config,
    section: &ReplicasSection,
    memory: &MemoryBudget,
) -> Result<ReplicasConfig> {
    let replica = |url| -> Result<ReplicaConfig> {
        let database = ExternalDatabase::parse_named("selvedge.replicas.urls", url)?;
        Ok(ReplicaConfig {
            name: database.address(),
            logins: database.logins(config.console.schema_changes),
        })
    };
    Ok(ReplicasConfig {
        replicas: section.urls.iter().map(replica).collect::<Result<_>>()?,
        max_lag: section.max_lag,
        max_lag_bytes: section.max_lag_bytes,
        pool: RequestPoolConfig {
            connections_per_worker: section.connections_per_worker,
            ..request_pool(config, memory)
        },
    })
}
