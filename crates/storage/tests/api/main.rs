//! The storage service over HTTP, on a real PostgreSQL and a real disk. Test names begin with ids of the contract's
//! checklist.
//!
//! With `SELVEDGE_TEST_S3=1` objects are in a real S3 server instead. `tools/plan.py` has the tests that run once more so.

mod attacks;
mod buckets;
mod callers;
mod client;
mod content_types;
mod copies;
mod crash_safety;
mod crashes;
mod downloads;
mod faulty_s3_proxy;
mod golden;
mod lists;
mod lost_commits;
mod object_columns;
mod policies;
mod render_attacks;
mod render_sources;
mod renders;
mod resumable;
mod resumable_crashes;
mod resumable_rights;
mod rights_at_commit;
mod s3_client;
mod s3_listings;
mod s3_multipart;
mod s3_objects;
mod s3_outages;
mod s3_parts;
mod s3_server;
mod s3_sessions;
mod s3_signatures;
mod s3_versions;
mod schema;
mod seeds;
mod signed_urls;
mod store;
mod streams;
mod support;
mod sweeps;
mod transactions;
mod tus_client;
mod unfinished;
mod uploads;
