//! The writers that wrote through this process recently, and when.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::reader::Writer;

/// Number of parts of the table, each with its own lock, so that workers rarely wait for each other.
const SHARDS: usize = 32;

/// The time of each writer's last write.
#[derive(Default)]
pub(super) struct RecentWrites {
    shards: [Mutex<HashMap<Writer, Instant>>; SHARDS],
}

impl RecentWrites {
    /// Remembers a write that was committed before `now`.
    pub(super) fn record(&self, writer: Writer, now: Instant) {
        self.shard(writer).insert(writer, now);
    }

    pub(super) fn last_write(&self, writer: Writer) -> Option<Instant> {
        self.shard(writer).get(&writer).copied()
    }

    /// Forgets writes from before `moment`.
    pub(super) fn forget_before(&self, moment: Instant) {
        for shard in &self.shards {
            let mut writes = shard.lock().unwrap_or_else(PoisonError::into_inner);
            writes.retain(|_, written| *written >= moment);
            // A burst of writers must not hold its memory for ever.
            if writes.capacity() > 1024 && writes.len() < writes.capacity() / 8 {
                writes.shrink_to_fit();
            }
        }
    }

    fn shard(&self, writer: Writer) -> MutexGuard<'_, HashMap<Writer, Instant>> {
        // The writer is a hash already, so its lowest bits spread evenly.
        let index = usize::try_from(writer.0 % SHARDS as u64).unwrap_or(0);
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_last_write_of_each_writer_is_known_until_it_is_forgotten() {
        let start = Instant::now();
        let later = start + Duration::from_secs(1);
        let (user, role) = (
            Writer::from_claims(Some("anon"), Some("authenticated")),
            Writer::from_claims(None, Some("anon")),
        );
        let writes = RecentWrites::default();
        writes.record(user, start);
        writes.record(role, start);
        writes.record(role, later);

        assert_eq!(
            (writes.last_write(user), writes.last_write(role)),
            (Some(start), Some(later))
        );

        writes.forget_before(later);
        assert_eq!(
            (writes.last_write(user), writes.last_write(role)),
            (None, Some(later))
        );
    }
}
