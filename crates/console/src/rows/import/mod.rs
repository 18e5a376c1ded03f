//! Import of a CSV file into a table (CONSOLE-059).
//!
//! The file is streamed through `COPY` in one transaction, so that all of its rows are inserted or none. PostgreSQL parses it and
//! reports line and column of an error. With `rejects=true` the rows that PostgreSQL refuses are skipped and returned.

mod decode;
mod fields;
mod options;
mod records;
mod tolerant;
mod upload;

pub(super) use upload::import_rows;
