//! Collects rows into lines of the answer, and stops at the limits of a run.

use selvedge_postgres::TextCell;
use serde_json::{Value, json};

/// The rows and bytes that a run shows of all its results together; larger results can be exported.
const MOST_ROWS: usize = 100_000;
const MOST_BYTES: usize = 64_000_000;
/// The bytes after which a value is cut, and after which the values of a row are.
pub(super) const CELL_BYTES: usize = 64 * 1024;
pub(super) const ROW_BYTES: usize = 1024 * 1024;
/// The bytes of values after which a line of the answer is sent.
const LINE_BYTES: usize = 64 * 1024;
/// Rows per portion that are requested from PostgreSQL. Between two portions a result can be abandoned without failing the
/// transaction.
pub(super) const PORTION: u32 = 1000;

/// Counts the rows and bytes that a run has sent, over all its results.
#[derive(Default)]
pub(super) struct RowLimit {
    rows: usize,
    bytes: usize,
}

impl RowLimit {
    /// Whether the run has sent as much as it may.
    pub(super) fn is_reached(&self) -> bool {
        self.rows >= MOST_ROWS || self.bytes >= MOST_BYTES
    }
}

/// Rows of one result that wait to be sent as one line.
#[derive(Default)]
pub(super) struct RowBuffer {
    rows: Vec<Value>,
    cuts: Vec<Value>,
    bytes: usize,
    /// The number of rows of this result that were accepted so far.
    pub(super) total: usize,
    /// Whether rows were left out.
    pub(super) truncated: bool,
}

impl RowBuffer {
    /// Adds a row, or notes that the result is truncated when the run's limit is reached.
    pub(super) fn push(&mut self, cells: Vec<Option<TextCell>>, limit: &mut RowLimit) {
        if limit.is_reached() {
            self.truncated = true;
            return;
        }
        for (column, cell) in cells.iter().enumerate() {
            if let Some(cell) = cell.as_ref().filter(|cell| cell.is_cut()) {
                self.cuts
                    .push(json!({ "row": self.rows.len(), "column": column, "bytes": cell.bytes }));
            }
        }
        let texts: Vec<Option<String>> = cells.into_iter().map(|cell| cell.map(|cell| cell.text)).collect();
        let bytes: usize = texts.iter().flatten().map(String::len).sum::<usize>() + texts.len();
        self.bytes += bytes;
        limit.bytes += bytes;
        limit.rows += 1;
        self.total += 1;
        self.rows.push(json!(texts));
    }

    /// Whether the waiting rows should be sent now.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= LINE_BYTES || self.rows.len() >= PORTION as usize
    }

    /// Empties the buffer into a `rows` event, or returns `None` when no row waits.
    pub(super) fn drain_event(&mut self, index: usize) -> Option<Value> {
        if self.rows.is_empty() {
            return None;
        }
        self.bytes = 0;
        Some(json!({
            "event": "rows",
            "index": index,
            "rows": std::mem::take(&mut self.rows),
            "cuts": std::mem::take(&mut self.cuts),
        }))
    }
}
