//! Conditions of requests that write or delete: what a client wants to find in the place of the object.

use actix_web::http::header::{HeaderMap, IF_MATCH, IF_NONE_MATCH};

use super::context::S3Context;
use super::error::S3Error;
use crate::error::StorageError;

/// Further conditions of a deletion.
const OF_DELETIONS: [&str; 2] = ["x-amz-if-match-last-modified-time", "x-amz-if-match-size"];

/// Whether the write may create the object and not replace one: `If-None-Match: *`. The unique index decides, so of two such writers
/// at the same time one succeeds.
///
/// # Errors
/// `NotImplemented` for other conditions: a write that ignored them would overwrite what they protect.
pub(super) fn creates_only(context: &S3Context) -> Result<bool, S3Error> {
    let headers = context.http.request.headers();
    if headers.contains_key(IF_MATCH) {
        return Err(S3Error::NotImplemented);
    }
    let mut tags = headers.get_all(IF_NONE_MATCH).peekable();
    let creates_only = tags.peek().is_some();
    match tags.all(|tags| tags.as_bytes().trim_ascii() == b"*") {
        true => Ok(creates_only),
        false => Err(S3Error::NotImplemented),
    }
}

/// The error of a write that may only create, and has found an object.
pub(super) fn map_conflict(error: impl Into<S3Error>, creates_only: bool) -> S3Error {
    match error.into() {
        S3Error::Storage(StorageError::KeyAlreadyExists) if creates_only => S3Error::PreconditionFailed,
        error => error,
    }
}

/// Refuses a deletion with a condition.
///
/// # Errors
/// `NotImplemented`: a deletion that ignored it would delete what it protects.
pub(super) fn refuse_deletion_conditions(headers: &HeaderMap) -> Result<(), S3Error> {
    let has_condition =
        headers.contains_key(IF_MATCH) || OF_DELETIONS.iter().any(|name| headers.contains_key(*name));
    match has_condition {
        true => Err(S3Error::NotImplemented),
        false => Ok(()),
    }
}
