//! Catalog, rows and texts of SQL over HTTP on a real PostgreSQL.

mod apply;
mod catalog;
mod count;
mod export;
mod faults;
mod import;
mod migrations;
mod read;
#[path = "../support/running_console.rs"]
mod running_console;
mod runs;
mod snippets;
mod support;
#[path = "../support/test_console.rs"]
mod test_console;
