//! The API of postgres-meta on a real PostgreSQL.

mod api;
mod many_tables;
mod recorded;
