//! The storage service over HTTP, on a real PostgreSQL and a real disk. Names carry the ids of the contract's checklist.

mod buckets;
mod callers;
mod copies;
mod crashes;
mod downloads;
mod golden;
mod lists;
mod policies;
mod renders;
mod resumable;
mod resumable_crashes;
mod schema;
mod seeds;
mod signed_urls;
mod streams;
mod support;
mod uploads;
