//! The result of a request transaction, and the request for rows as one JSON document.

use crate::json::ByteChunks;
use crate::{Row, SqlStatement};

/// The rows of a finished transaction's statements.
#[derive(Debug)]
pub struct TransactionResult {
    pub rows: Vec<Row>,
    /// Rows of [`crate::RequestTransaction::explain`].
    pub explain: Vec<Row>,
    /// False after a rollback: a dry run, or rows that `run_checked` did not accept.
    pub is_committed: bool,
}

/// Rows that are wanted as one document.
#[derive(Clone, Copy)]
pub struct JsonRead<'a> {
    /// What the rows become.
    pub document: crate::JsonDocument,
    /// Whether PostgreSQL writes the text of each row in any case: the transaction's statement is the one that [`Self::fallback`] makes.
    pub only_texts: bool,
    /// Runs after the rows, in the same transaction.
    pub after: &'a SqlStatement,
    /// Makes the statement by which PostgreSQL itself writes the JSON: the last column of each row is an element of the document. It
    /// runs where the result has types whose JSON this process cannot write, or as long as its types are unknown.
    pub fallback: &'a dyn Fn() -> SqlStatement,
    /// Whether the rows may be asked for in columns before their types are known. Where these turn out not to be written here, the statement has
    /// run and runs once more. Called for the first uses of a statement only.
    pub may_run_twice: &'a dyn Fn() -> bool,
}

/// The result of a [`JsonRead`].
#[derive(Debug)]
pub struct JsonReadResult {
    /// The document.
    pub body: ByteChunks,
    /// Number of rows in `body`.
    pub rows: u64,
    /// The number of rows of which these are a page, for a document that has it.
    pub total: Option<i64>,
    /// Rows of the statement [`JsonRead::after`].
    pub after: Vec<Row>,
    /// Whether [`JsonRead::fallback`] has run.
    pub is_fallback: bool,
}
