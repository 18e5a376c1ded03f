//! Memory for rows that are too small to be counted one by one, but of which there may be many.

use std::mem::take;

use bytes::Bytes;
use selvedge_memory::{COUNTED_FROM, MemoryBudget};

use super::Row;

/// Counts the rows of one batch. For each [`COUNTED_FROM`] bytes of them one row holds a reservation, as the rows of a result are
/// freed at about the same time.
#[derive(Debug)]
pub(super) struct SmallRows {
    /// Bytes since the last reservation.
    uncounted: usize,
    /// Whether the statement of a write has taken effect, so that its result is kept if that is possible at all.
    writes: bool,
}

impl SmallRows {
    pub(super) fn new(writes: bool) -> Self {
        Self { uncounted: 0, writes }
    }

    /// Counts a row. `None` when there is no memory left for it and those before it. Memory for a row of at least
    /// [`COUNTED_FROM`] bytes has been reserved before.
    pub(super) fn count(&mut self, row: Bytes, memory: &MemoryBudget) -> Option<Bytes> {
        if row.len() >= COUNTED_FROM {
            return Some(row);
        }
        self.uncounted += row.len() + size_of::<Row>();
        if self.uncounted < COUNTED_FROM {
            return Some(row);
        }
        let bytes = take(&mut self.uncounted);
        let reserved = match self.writes {
            true => memory.reserve_for_write(bytes),
            false => memory.reserve(bytes),
        };
        Some(reserved?.hold(row))
    }
}
