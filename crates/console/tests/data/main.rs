//! Catalog, rows and texts of SQL over HTTP on a real PostgreSQL.

mod apply;
mod catalog;
mod read;
#[path = "../support/running_console.rs"]
mod running_console;
mod runs;
mod support;
#[path = "../support/test_console.rs"]
mod test_console;
