//! Import of a CSV file into a table (CONSOLE-059).
//!
//! The file is streamed through `COPY` in one transaction, so that all of its rows are there afterwards or none. PostgreSQL
//! itself parses it, and names line and column of a fault. Faulty rows are left out and returned where that is asked for.

mod decode;
mod fields;
mod options;
mod records;
mod tolerant;
mod upload;

pub(super) use upload::import_rows;
