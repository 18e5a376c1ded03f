//! Resumable uploads: TUS 1.0.0 at `/upload/resumable`, and at `/upload/resumable/sign` for holders of an upload token.
//!
//! An upload is a row ([`upload_table`]) and pieces. The bytes that one request brings (or a stretch of a long request)
//! become a blob of their own, which is durable before the row counts it; the offset that a client is told is the
//! row's. So an acknowledged offset survives a crash, any node can continue an upload, and backends need no support for
//! it.
//!
//! [`routes`] picks the file of the operation ([`create`], [`patch`], [`head`], [`terminate`]), [`receive`] reads
//! bytes, [`finish`] makes the object once all pieces are there (again, if a crash came between), and [`expire`]
//! removes uploads that were abandoned. Permission is checked on every request that changes something. Errors are plain
//! text ([`error`]), except for a missing or invalid token, which is answered in the service's JSON.

mod create;
mod digest;
mod error;
mod expire;
mod finish;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod head;
mod headers;
mod merge;
mod patch;
mod protocol;
mod receive;
mod request;
mod routes;
mod terminate;
mod upload_id;
mod upload_locks;
mod upload_table;

pub(crate) use expire::expire_resumable_uploads;
pub(crate) use routes::{ResumableRoute, serve_request};
pub(crate) use upload_locks::UploadLocks;
