//! Catalog, rows and texts of SQL over HTTP on a real PostgreSQL.

mod apply;
mod catalog;
mod count;
mod export;
mod faults;
mod import;
mod migrations;
mod read;
mod runs;
mod snippets;
mod support;
