//! The API of postgres-meta, which dashboards and tools call under `/pg`: lists of database objects, SQL, and types.
//!
//! In come a database with a single login and requests that the gateway has admitted: it lets nobody but `service_role`
//! pass. Out come JSON objects as postgres-meta 0.99 writes them. Everything runs with the rights of that login, which is
//! `postgres` and no superuser. What changes the
//! database is refused to web pages, since the keys of a developer's machine are known to everybody.

mod changes;
mod error;
mod lists;
mod query;
mod routes;
mod sql_text;
mod state;

pub use routes::configure;
pub use state::{Meta, MetaConfig};
