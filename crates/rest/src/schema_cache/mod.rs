//! Settings and catalog of one database, and what keeps them current; shared by all workers.
//!
//! A request takes a [`Snapshot`] when it begins and keeps it to its end. A `NOTIFY` on the configured channel, a
//! signal, or a listening connection that came back starts a reload. A reload that fails keeps the old snapshot, is
//! tried again, and shows in [`SchemaCacheHealth`].

mod cache;
mod refresh;
mod reload;
mod tenant_catalogs;

pub(crate) use cache::Snapshot;
pub use cache::{SchemaCache, SchemaCacheHealth};
