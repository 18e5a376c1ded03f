//! The replicas of a process: what they have to have replayed for a read, and who wrote when.

use std::time::{Duration, Instant, SystemTime};

use postgres_types::PgLsn;

use super::config::ReplicasConfig;
use super::positions::PrimaryPositions;
use super::reader::{Reader, Writer};
use super::recent_writes::RecentWrites;
use super::replica::Replica;
use crate::hosts::NewerPrimary;
use crate::{Database, RequestPoolConfig};

/// Samples of the primary's position are kept this much longer than `max_lag`, for replicas whose lag is measured.
const KEPT_BEYOND_LAG: Duration = Duration::from_secs(60);
/// `iat` is in whole seconds, and the clock of the node that signed the token may be ahead or behind by another one.
const TOKEN_TIME_ERROR: Duration = Duration::from_secs(2);

/// The replicas of a database, shared by all workers.
pub struct Replicas {
    pub(super) replicas: Vec<Replica>,
    pub(super) positions: PrimaryPositions,
    pub(super) writes: RecentWrites,
    pub(super) max_lag: Duration,
    pub(super) max_lag_bytes: u64,
    pub(super) pool: RequestPoolConfig,
    node: String,
    primary: NewerPrimary,
}

impl Replicas {
    /// Creates the state of the replicas of `primary`, before their monitoring starts.
    pub(super) fn new(primary: &Database, config: ReplicasConfig) -> Self {
        let replicas = config.replicas.into_iter().map(|replica| {
            let database = primary.replica(replica.logins);
            Replica::new(replica.name, database)
        });
        Self {
            replicas: replicas.collect(),
            positions: PrimaryPositions::new(config.max_lag + KEPT_BEYOND_LAG),
            writes: RecentWrites::default(),
            max_lag: config.max_lag,
            max_lag_bytes: config.max_lag_bytes,
            pool: config.pool,
            // A new name after each start, because what the process knew of writes ends with it.
            node: uuid::Uuid::new_v4().simple().to_string(),
            primary: primary.newer_primary(),
        }
    }

    /// Remembers that `writer` may have written. To be called after the commit, and before the response is sent.
    pub fn record_write(&self, writer: Writer) {
        self.writes.record(writer, Instant::now());
    }

    /// Names this process for [`Reader::wrote_elsewhere`].
    pub fn node(&self) -> &str {
        &self.node
    }

    /// The timeline of the primary through which this process writes; 0 when it is not known.
    pub fn timeline(&self) -> u32 {
        self.primary.timeline()
    }

    /// Looks for a primary of this timeline, on which another node has written, unless this process knows it or a newer one. While both of two
    /// primaries answer, nodes find the newer one at different times, and whoever writes through one of them reads through another.
    pub async fn follow_timeline(&self, timeline: u32) {
        self.primary.follow(timeline).await;
    }

    /// A write is visible on every replica that gets reads after this time.
    pub fn max_lag(&self) -> Duration {
        self.max_lag
    }

    /// Why reads run on the primary although there are replicas; `None` when at least one of them gets reads.
    pub fn find_fault(&self) -> Option<String> {
        let faults: Option<Vec<_>> = self
            .replicas
            .iter()
            .map(|replica| Some(format!("{}: {}", replica.name, replica.left_out_reason()?)))
            .collect();
        faults.map(|faults| faults.join("; "))
    }

    /// Returns the WAL position that a replica must have replayed for a read by `reader`; `None` when it is not known yet,
    /// so that the read must run on the primary.
    pub(super) fn required_position(&self, reader: &Reader) -> Option<PgLsn> {
        if reader.wrote_elsewhere {
            return None;
        }
        let now = Instant::now();
        let oldest_allowed = now.checked_sub(self.max_lag).unwrap_or(now);
        let last_write = self.writes.last_write(reader.writer);
        let signed_in = reader
            .token_issued_s
            .and_then(|issued| moment_of_token(issued, now));
        match last_write
            .max(signed_in)
            .filter(|written| *written > oldest_allowed)
        {
            Some(written) => self.positions.first_since(written),
            // While the primary does not respond, its last known position is used.
            None => {
                let recent = self.positions.first_since(oldest_allowed);
                recent.or_else(|| Some(self.positions.newest()?.position))
            }
        }
    }

    /// Forgets writes that every read sees anyway.
    pub(super) fn forget_old_writes(&self) {
        let Some(newest) = self.positions.newest() else {
            return;
        };
        // While the primary is away, reads require its newest position, so later writes have to be remembered.
        if let Some(moment) = Instant::now().checked_sub(self.max_lag) {
            self.writes.forget_before(moment.min(newest.asked));
        }
    }
}

/// The time before which everything that led to a token was committed; `None` for a token that is older than this process.
fn moment_of_token(issued_s: i64, now: Instant) -> Option<Instant> {
    let issued = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(issued_s).ok()?);
    let committed = issued + TOKEN_TIME_ERROR;
    match SystemTime::now().duration_since(committed) {
        Ok(age) => now.checked_sub(age),
        // A time in the future has no sample yet, so such a read goes to the primary.
        Err(ahead) => Some(now + ahead.duration()),
    }
}
