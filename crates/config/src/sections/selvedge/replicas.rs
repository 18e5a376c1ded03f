//! `[selvedge.replicas]`: streaming replicas of the database, from which REST reads.

use std::time::Duration;

use secrecy::SecretString;

use crate::reader::section::Section;

/// `[selvedge.replicas]`.
#[derive(Debug, Clone)]
pub struct ReplicasSection {
    /// URLs of the servers, of the form of `DATABASE_URL`. Setting them switches reads on replicas on.
    pub urls: Vec<SecretString>,
    /// A read shows no state of the database that is older than this. Default 10s.
    pub max_lag: Duration,
    /// A replica that lacks more bytes of WAL than this gets no reads. Default 64 MiB.
    pub max_lag_bytes: u64,
    /// Connections that each worker keeps open to each replica. Default 2.
    pub connections_per_worker: usize,
}

impl ReplicasSection {
    /// `None` without `urls`, as the other keys are then meaningless.
    pub(super) fn read(section: &Section<'_>) -> Option<Self> {
        let urls = section.strings("urls", &[]);
        let found = Self {
            urls: urls.into_iter().map(SecretString::from).collect(),
            max_lag: section.duration("max_lag", Duration::from_secs(10)),
            max_lag_bytes: section.size("max_lag_bytes", 64 * 1024 * 1024),
            connections_per_worker: section.integer("connections_per_worker", 2, 1..=256),
        };
        if found.urls.is_empty() {
            return None;
        }
        if !(Duration::from_secs(1)..=Duration::from_secs(600)).contains(&found.max_lag) {
            section.report_error("max_lag", "must be from 1s to 10m");
        }
        Some(found)
    }
}
