//! Third stage: a plan → SQL. The only code of this crate that writes SQL for requests, and pure: no I/O.
//!
//! Identifiers go through one quoting function, values are always parameters, numbers of rows are checked integers.
//! The text depends on the shape of a request only, never on its values, so that prepared statements are reused.

mod body;
mod builder;
mod call;
mod count;
mod document;
mod filter;
mod first_use;
mod grouped_join;
mod join;
mod mutate;
mod payload;
mod read;
#[cfg(any(test, fuzzing))]
pub(crate) mod soundness;
mod statements;

pub use document::{BODY_COLUMN, EXTRA_COLUMN, HEADERS_COLUMN, ROW_COUNT_COLUMN, STATUS_COLUMN};
pub(crate) use first_use::may_run_twice;
pub use statements::{RowsStatement, Statements, response_settings, write_statements};

#[cfg(test)]
mod citus_tests;
#[cfg(test)]
mod pipeline_tests;
