//! Buckets: one file per operation. All run under the caller's role; the policies on `storage.buckets` decide.

mod create_bucket;
mod delete_bucket;
mod empty_bucket;
mod get_bucket;
mod list_buckets;
mod update_bucket;

pub(crate) use create_bucket::create_bucket;
pub(crate) use delete_bucket::{delete_bucket, remove_bucket};
pub(crate) use empty_bucket::empty_bucket;
pub(crate) use get_bucket::get_bucket;
pub(crate) use list_buckets::list_buckets;
pub(crate) use update_bucket::update_bucket;

use crate::error::StorageError;
use crate::json_body::Fields;
use crate::limits::parse_file_size_limit;
use crate::serve::Call;

/// The limit a bucket is given; it cannot exceed the service's own.
fn file_size_limit(call: &Call, body: &Fields) -> Result<Option<i64>, StorageError> {
    let limit = body
        .value("file_size_limit")
        .map_or(Ok(None), parse_file_size_limit)?;
    let global = i64::try_from(call.storage().config().file_size_limit_bytes).unwrap_or(i64::MAX);
    if limit.is_some_and(|limit| limit > global) {
        return Err(StorageError::EntityTooLarge);
    }
    Ok(limit)
}
