//! `/pg`: the API of postgres-meta 0.99, by which dashboards and tools list and change database objects, run SQL and generate
//! types.
//!
//! In: requests that the gateway let pass, which it does for `service_role` only, and a database with one login. Out: the same
//! JSON as postgres-meta, or `{"error": "…"}`. Everything runs with the rights of that login, `postgres`, which is no
//! superuser.
//!
//! Requests that change the database and carry `Origin` are refused: the keys of `selvedge start` are published, so any web page
//! could otherwise change the database of a developer who visits it.
//!
//! Which requests may come here, and CORS, are left to the gateway.

mod changes;
mod error;
mod lists;
mod query;
mod routes;
mod sql_text;
mod state;

pub use routes::configure;
pub use state::{Meta, MetaConfig};
