//! All tests of this crate on a real PostgreSQL, as one program: each further one would be linked with the same libraries again.

mod citus;
mod hosts;
mod json_rows;
mod migrate;
mod platform;
mod replicas;
mod replication;
mod request_pool;
mod request_session;
mod request_transaction;
mod shared_pools;
mod text_session;
