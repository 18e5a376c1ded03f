//! Keeps the latest requests in at most 32 MB.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::entry::Entry;

/// The bytes that all entries may take together.
const MAX_TOTAL_BYTES: usize = 32_000_000;
/// The number of entries in a block. Readers share full blocks and copy the open one, so that they hold the lock for a
/// moment only.
const BLOCK_ENTRIES: usize = 256;

/// The latest entries in blocks, the oldest first.
#[derive(Default)]
pub(super) struct Ring {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    full: VecDeque<Block>,
    open: Vec<Entry>,
    open_bytes: usize,
    bytes: usize,
    next_number: u64,
}

#[derive(Clone)]
struct Block {
    entries: Arc<Vec<Entry>>,
    bytes: usize,
}

impl Ring {
    /// Adds the entry that `make` returns for the next number, and drops the oldest block when memory is used up.
    pub(super) fn push(&self, make: impl FnOnce(u64) -> Entry) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.next_number += 1;
        let entry = make(state.next_number);
        state.bytes += entry.size();
        state.open_bytes += entry.size();
        if state.open.capacity() == 0 {
            state.open.reserve_exact(BLOCK_ENTRIES);
        }
        state.open.push(entry);
        if state.open.len() == BLOCK_ENTRIES {
            let bytes = std::mem::take(&mut state.open_bytes);
            let entries = Arc::new(std::mem::take(&mut state.open));
            state.full.push_back(Block { entries, bytes });
        }
        // Whole blocks are dropped, so that making room is cheap.
        while state.bytes > MAX_TOTAL_BYTES {
            let Some(oldest) = state.full.pop_front() else {
                break;
            };
            state.bytes -= oldest.bytes;
        }
    }

    /// Returns the number of the newest entry, or 0 before the first one.
    pub(super) fn newest(&self) -> u64 {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next_number
    }

    /// Returns all kept entries in blocks, the oldest first. Entries that come later do not appear in it.
    pub(super) fn snapshot(&self) -> Vec<Arc<Vec<Entry>>> {
        self.snapshot_after(0)
    }

    /// Returns the blocks with entries after this number, the first of which may hold older ones, too.
    pub(super) fn snapshot_after(&self, number: u64) -> Vec<Arc<Vec<Entry>>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_newer = |entries: &[Entry]| entries.last().is_some_and(|last| last.number > number);
        let full = state.full.iter().map(|block| &block.entries);
        let mut blocks: Vec<_> = full.filter(|entries| is_newer(entries)).cloned().collect();
        if is_newer(&state.open) {
            blocks.push(Arc::new(state.open.clone()));
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use selvedge_gateway::RequestRecord;

    use super::*;

    fn record(path: &str) -> RequestRecord<'_> {
        RequestRecord {
            id: "0123456789ab-ffff",
            service: "rest",
            method: "GET",
            path,
            status: 200,
            elapsed: Duration::from_micros(900),
            claims: None,
            address: None,
        }
    }

    #[test]
    fn console_131_the_ring_keeps_the_newest_requests_within_its_memory() {
        let ring = Ring::default();
        let path = format!("/rest/v1/{}", "x".repeat(1000));
        for _ in 0..60_000 {
            ring.push(|number| Entry::new(number, 0, &record(&path)));
        }

        let kept: Vec<_> = ring.snapshot();
        let bytes: usize = kept.iter().flat_map(|block| block.iter()).map(Entry::size).sum();
        assert!(bytes <= MAX_TOTAL_BYTES, "{bytes}");
        assert!(bytes > MAX_TOTAL_BYTES / 2, "{bytes}");
        assert_eq!(
            kept.last()
                .and_then(|block| block.last())
                .map(|entry| entry.number),
            Some(60_000)
        );
        assert_eq!(ring.snapshot_after(60_000).len(), 0);
    }

    /// How long the thread has been on a core, which does not grow while others have it.
    fn read_core_time() -> Duration {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("a file of Linux");
        let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
        Duration::from_nanos(nanoseconds.expect("a number"))
    }

    #[test]
    fn console_131_an_entry_costs_less_than_four_microseconds() {
        let ring = Ring::default();
        let before = read_core_time();
        for _ in 0..50_000 {
            ring.push(|number| Entry::new(number, 0, &record("/rest/v1/notes")));
        }

        // 2 % of a core are 4 µs for each of 5 000 entries a second. A build for tests is several times slower.
        let each = (read_core_time() - before) / 50_000;
        let bound = if cfg!(debug_assertions) { 40 } else { 4 };
        assert!(each < Duration::from_micros(bound), "{each:?}");
    }
}
