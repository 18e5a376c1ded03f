//! The tests of `tests/api` again, with objects in a real S3 server instead of files, and tests of a failing S3 server.

#[path = "../api/attacks.rs"]
mod attacks;
#[path = "../api/buckets.rs"]
mod buckets;
#[path = "../api/callers.rs"]
mod callers;
#[path = "../api/client.rs"]
mod client;
#[path = "../api/copies.rs"]
mod copies;
#[path = "../api/crash_safety.rs"]
mod crash_safety;
#[path = "../api/crashes.rs"]
mod crashes;
#[path = "../api/downloads.rs"]
mod downloads;
mod faulty_s3_proxy;
#[path = "../api/lists.rs"]
mod lists;
mod outages;
#[path = "../api/policies.rs"]
mod policies;
#[path = "../api/render_attacks.rs"]
mod render_attacks;
#[path = "../api/renders.rs"]
mod renders;
#[path = "../api/resumable.rs"]
mod resumable;
#[path = "../api/resumable_crashes.rs"]
mod resumable_crashes;
#[path = "../api/resumable_rights.rs"]
mod resumable_rights;
#[path = "../api/s3_client.rs"]
mod s3_client;
#[path = "../api/s3_listings.rs"]
mod s3_listings;
#[path = "../api/s3_multipart.rs"]
mod s3_multipart;
#[path = "../api/s3_objects.rs"]
mod s3_objects;
#[path = "../api/s3_server.rs"]
mod s3_server;
#[path = "../api/s3_sessions.rs"]
mod s3_sessions;
#[path = "../api/s3_signatures.rs"]
mod s3_signatures;
#[path = "../api/seeds.rs"]
mod seeds;
#[path = "../api/signed_urls.rs"]
mod signed_urls;
#[path = "../api/store.rs"]
mod store;
#[path = "../api/streams.rs"]
mod streams;
#[path = "../api/support.rs"]
mod support;
#[path = "../api/sweeps.rs"]
mod sweeps;
#[path = "../api/tus_client.rs"]
mod tus_client;
#[path = "../api/uploads.rs"]
mod uploads;

/// Makes the shared tests use the S3 server, see `tests/api`.
pub(crate) const ON_S3: bool = true;
