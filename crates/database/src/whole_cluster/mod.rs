//! What holds for all databases of a cluster, and what a start or `migrate up` checks or changes there as a superuser.

mod catalog_locks;
pub mod cluster_roles;
pub(crate) mod guarded_databases;
pub mod harmful_settings;
mod opened_databases;
pub mod server_roles;
pub(crate) mod unreadable_texts;
