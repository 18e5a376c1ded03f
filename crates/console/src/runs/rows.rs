//! Rows on their way to the browser: collected into lines, counted, and limited.

use selvedge_postgres::TextCell;
use serde_json::{Value, json};

/// Rows and bytes of all results of a run; what is more can be exported.
const MOST_ROWS: usize = 100_000;
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// A value is kept to this length, and a row to the second one.
pub(super) const CELL_BYTES: usize = 64 * 1024;
pub(super) const ROW_BYTES: usize = 1024 * 1024;
/// A line of the answer has about this many bytes of values at most.
const LINE_BYTES: usize = 64 * 1024;
/// Rows asked of PostgreSQL at once, so that a result can be left unfinished without failing its transaction.
pub(super) const PORTION: u32 = 1000;

/// Counts what a run has sent.
#[derive(Default)]
pub(super) struct RowLimit {
    rows: usize,
    bytes: usize,
}

impl RowLimit {
    /// Whether the run has shown all that it may.
    pub(super) fn is_reached(&self) -> bool {
        self.rows >= MOST_ROWS || self.bytes >= MOST_BYTES
    }
}

/// Rows of one result that have not been sent.
#[derive(Default)]
pub(super) struct RowBuffer {
    rows: Vec<Value>,
    cuts: Vec<Value>,
    bytes: usize,
    /// Rows of the result that were taken.
    pub(super) total: usize,
    /// Whether rows were left out.
    pub(super) truncated: bool,
}

impl RowBuffer {
    /// Takes a row, unless the limit is reached.
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

    /// Whether there is enough for a line.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= LINE_BYTES || self.rows.len() >= PORTION as usize
    }

    /// The line's event; none without rows.
    pub(super) fn take(&mut self, index: usize) -> Option<Value> {
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
