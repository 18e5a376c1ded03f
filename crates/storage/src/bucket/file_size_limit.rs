//! The field `file_size_limit` of requests that create or change a bucket.

use crate::context::RequestContext;
use crate::error::StorageError;
use crate::request::json_body::Fields;
use crate::validation::limits::parse_file_size_limit;

/// The limit in bytes that the body gives; `None` when it is absent or null.
///
/// # Errors
/// `Schema`; `EntityTooLarge` above the limit of the service.
pub(super) fn read_file_size_limit(
    context: &RequestContext,
    body: &Fields,
) -> Result<Option<i64>, StorageError> {
    let limit = body
        .value("file_size_limit")
        .map_or(Ok(None), parse_file_size_limit)?;
    let global = i64::try_from(context.storage().config().file_size_limit_bytes).unwrap_or(i64::MAX);
    if limit.is_some_and(|limit| limit > global) {
        return Err(StorageError::EntityTooLarge);
    }
    Ok(limit)
}
