//! Where the bytes of objects are stored: in local files or in an S3-compatible store. A backend handles
//! versions and bytes; buckets, keys, rows and callers do not occur in its interface.
//!
//! A blob is written once under a fresh [`Version`], becomes visible as a whole, and never changes. That makes
//! replacement safe: write the new blob, commit the row, remove the old blob.
//!
//! Uploads in parts (S3 multipart, resumable uploads) need no support of their own: each part is a blob, durable once
//! it is finished, and a row says where it belongs. [`Backend::concat`] joins them into the object's blob; then they
//! are removed like any blob without a row.

pub(crate) mod blob_deleter;
mod blob_store;
mod claimed_folder;
mod file;
mod guarded_writer;
mod room;
mod s3;
mod store_ownership;
mod version;

pub use blob_store::{
    Backend, BackendError, BackendResult, BlobBody, BlobEntry, BlobInfo, BlobReader, BlobStat, BlobWriter,
    joined_etag,
};
pub use file::{FileBackend, OwnersNote};
pub(crate) use guarded_writer::create_guarded;
pub use s3::{S3Backend, S3BackendConfig};
pub(crate) use store_ownership::{Content, StoreOwnership};
pub use version::Version;
