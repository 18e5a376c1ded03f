//! The version that a request names by `versionId`. Source: STORE-203, STORE-205.

use crate::context::RequestContext;
use crate::error::StorageError;

/// Reads `versionId` of the query. A named version is looked up on the primary: a replica that lags may not have it yet, or still
/// have it.
///
/// # Errors
/// `Schema` when it is given twice.
pub(crate) fn read_wanted_version(context: &RequestContext) -> Result<Option<String>, StorageError> {
    let version = context.query.text("versionId")?.map(str::to_owned);
    if version.is_some() {
        context.read_from_primary();
    }
    Ok(version)
}
