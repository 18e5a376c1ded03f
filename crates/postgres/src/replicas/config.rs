//! Where the replicas are, and how far behind the primary they may be.

use std::time::Duration;

use crate::{Logins, RequestPoolConfig};

/// The replicas of a database, and how far behind the primary they may be.
#[derive(Clone)]
pub struct ReplicasConfig {
    pub replicas: Vec<ReplicaConfig>,
    /// A read never shows a state of the database that is older than this.
    pub max_lag: Duration,
    /// A replica that lacks more bytes of WAL than this gets no reads.
    pub max_lag_bytes: u64,
    /// Connections of each worker to each replica.
    pub pool: RequestPoolConfig,
}

/// One server. It may also be the primary, now or after a failover: a server that is not in recovery gets no reads.
#[derive(Clone)]
pub struct ReplicaConfig {
    /// Names it in logs and metrics, for example `host:port`.
    pub name: String,
    pub logins: Logins,
}
