//! Catalog and rows over HTTP on a real PostgreSQL.

mod apply;
mod catalog;
mod read;
mod support;
