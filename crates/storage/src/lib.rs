//! The storage service, mounted at `/storage/v1`: buckets and objects under row-level security.
//!
//! A request arrives with its caller identified by the gateway. [`routes`] reads the raw path and calls the file of the
//! operation in [`bucket`], [`object`], [`render`], [`tus`] or [`s3`], with a [`context`] that wraps the request. The
//! operation runs SQL under the caller's role ([`database`]) and moves bytes through a [`backend`]. The response is the
//! contract's JSON, a streamed object or a [`StorageError`]. What a caller may see is decided by the policies on
//! `storage.objects` and `storage.buckets`, never by this crate.
//!
//! [`state`] holds what all requests share; [`maintenance`] runs without a request, and [`service_objects`] serves other
//! parts of the server.
//!
//! Left to others: CORS, API keys and request ids (gateway), the `storage` schema itself (platform migrations),
//! configuration files (server).

mod backend;
mod bucket;
mod config;
mod context;
mod database;
mod error;
mod health;
mod identity;
mod maintenance;
mod mount;
mod object;
mod purge_cache;
mod render;
mod request;
mod response;
mod routes;
mod s3;
mod service_objects;
mod state;
mod tus;
mod unfinished;
mod url_token;
mod validation;
mod versions;

pub use backend::{
    Backend, BackendError, BackendResult, BlobBody, BlobEntry, BlobInfo, BlobReader, BlobStat, BlobWriter,
    FileBackend, OwnersNote, S3Backend, S3BackendConfig, Version, joined_etag,
};
pub use config::{S3KeyPair, S3ProtocolConfig, StorageConfig};
pub use error::StorageError;
pub use maintenance::adopt_store;
pub use maintenance::{BlobReference, lock_blob_references, visit_blob_references};
pub use maintenance::{BucketSeed, SeedError, SeedReport, seed_buckets};
pub use maintenance::{SweepOptions, SweepReport, sweep, sweep_at_intervals};
pub use mount::configure;
#[cfg(fuzzing)]
pub use s3::fuzzing::check_signature;
pub use service_objects::ServiceObjects;
pub use state::{Storage, StorageWorker};
#[cfg(fuzzing)]
pub use tus::fuzzing::check_metadata;
