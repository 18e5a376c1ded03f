//! The version of an object that a request names by `versionId`, and which versions a list asks for.
//!
//! Buckets keep no versions, so a key has one, that of its row. A request for another one finds nothing: the newest bytes in its
//! place would be what the client did not ask for. Source: STORE-205.

use crate::context::RequestContext;
use crate::error::StorageError;
use crate::request::json_body::Fields;

/// What a list does with a kind of rows.
const KINDS: [&str; 3] = ["exclude", "include", "only"];

/// Reads `versionId` of the query. A named version is looked up on the primary: on a replica that lags, the row may still have
/// another one.
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

/// Whether a list asks only for rows that no bucket has: earlier versions, or markers of deleted objects.
///
/// # Errors
/// `Schema`.
pub(super) fn asks_only_for_history(body: &Fields) -> Result<bool, StorageError> {
    let noncurrent = body.one_of("noncurrentVersions", &KINDS)?;
    let markers = body.one_of("deleteMarkers", &KINDS)?;
    Ok(noncurrent == Some("only") || markers == Some("only"))
}
