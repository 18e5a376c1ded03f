//! Versions of objects, of which each object has one: S3 calls it `null`.

use super::error::S3Error;
use super::operation::Operation;
use crate::request::query::Query;

/// The id of an object's only version, as S3 names objects that were written while versioning was off.
pub(super) const UNVERSIONED: &str = "null";

/// Refuses a request for a version of an object that is not its only one. Without this check, a client that deletes an
/// old version would delete the object.
///
/// # Errors
/// `NoSuchVersion`.
pub(super) fn check_version(operation: &Operation, query: &Query) -> Result<(), S3Error> {
    let takes_version = matches!(
        operation,
        Operation::GetObject(_)
            | Operation::HeadObject(_)
            | Operation::GetObjectTagging(_)
            | Operation::DeleteObject(_)
    );
    match query.text("versionId")? {
        Some(version) if takes_version && !is_only_version(version) => Err(S3Error::NoSuchVersion),
        _ => Ok(()),
    }
}

/// Whether an id names the only version that an object has. An empty one names none in particular.
pub(super) fn is_only_version(id: &str) -> bool {
    id.is_empty() || id == UNVERSIONED
}
