//! Catalog, rows and texts of SQL over HTTP on a real PostgreSQL.

mod apply;
mod catalog;
mod read;
mod runs;
mod support;
