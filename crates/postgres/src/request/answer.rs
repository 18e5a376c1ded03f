//! What a request transaction answers.

use bytes::Bytes;

use crate::json::Chunks;
use crate::{Row, SqlStatement};

/// Rows of the statements of a transaction that has ended.
#[derive(Debug)]
pub struct Answer {
    pub rows: Vec<Row>,
    /// Rows of [`crate::RequestTransaction::explain`].
    pub explain: Vec<Row>,
    /// Whether the changes stayed.
    pub committed: bool,
}

/// A read whose rows are wanted as one JSON document.
#[derive(Clone, Copy)]
pub struct Listing<'a> {
    /// Array or object.
    pub form: crate::JsonForm,
    /// Runs after the rows, in the same transaction.
    pub after: &'a SqlStatement,
    /// The statement by which PostgreSQL writes the document, where we cannot.
    pub otherwise: &'a dyn Fn() -> SqlStatement,
}

/// What a [`Listing`] gave.
#[derive(Debug)]
pub enum Listed {
    /// The document.
    Json {
        body: Chunks,
        rows: u64,
        /// Rows of [`Listing::after`].
        after: Vec<Row>,
    },
    /// The answer to [`Listing::otherwise`].
    Answer(Answer),
}

/// A column's bytes as PostgreSQL sent them, without a copy: text, json and bytea are their own binary form.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the row is used up; its bytes live on"
)]
pub fn column_bytes(row: Row, index: usize) -> Option<Bytes> {
    row.bytes(index)
}
