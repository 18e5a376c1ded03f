//! Maintenance outside of requests: loading a project's files, and removing leftovers of crashes and uploads that nobody
//! finished.

mod adopt;
mod expire;
mod metrics;
mod orphans;
mod references;
mod seed;
mod sweep;
mod sweep_intervals;
mod sweep_lock;
mod sweep_report;

pub use adopt::adopt_store;
pub(crate) use expire::expire_uploads_forever;
pub use references::{BlobReference, lock_blob_references, visit_blob_references};
pub use seed::{BucketSeed, SeedError, SeedReport, seed_buckets};
pub use sweep::sweep;
pub use sweep_intervals::sweep_at_intervals;
pub use sweep_report::{SweepOptions, SweepReport};
