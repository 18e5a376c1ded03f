//! The storage service, mounted at `/storage/v1`: buckets and objects under row-level security.
//!
//! In comes an HTTP request whose caller the gateway has already identified. [`route`] reads the raw path into a closed
//! set of routes, [`serve`] picks the one file that answers it (`bucket/`, `object/`), which asks PostgreSQL under the
//! caller's role ([`session`]) and moves bytes through a [`backend`]. Out goes the contract's JSON, a streamed object or
//! a [`StorageError`]. Nobody here decides what a caller may see: the policies on `storage.objects` and
//! `storage.buckets` do.
//!
//! Left to others: CORS, API keys and request ids (gateway), the `storage` schema itself (platform migrations),
//! configuration files (server).

mod answer;
mod asset;
mod backend;
mod bucket;
mod config;
mod error;
mod identity;
mod janitor;
mod json_body;
mod limits;
mod multipart;
mod names;
mod object;
mod object_row;
mod operational;
mod query;
mod render;
mod robots;
mod route;
mod s3;
mod seed;
mod serve;
mod session;
mod sweep;
mod tus;
mod url_token;
mod version;

pub use backend::{
    Backend, BackendError, BackendResult, BlobBody, BlobEntry, BlobInfo, BlobReader, BlobStat, BlobWriter,
    FileBackend, S3Backend, S3BackendConfig, Version, joined_etag,
};
pub use config::{S3KeyPair, S3ProtocolConfig, StorageConfig};
pub use error::StorageError;
pub use seed::{BucketSeed, SeedError, SeedReport, seed_buckets};
pub use serve::{Storage, StorageWorker, configure};
pub use sweep::{SweepOptions, SweepReport, sweep, sweep_at_intervals};
