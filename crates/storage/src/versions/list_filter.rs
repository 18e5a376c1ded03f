//! Which rows of a key a list shows. Source: STORE-214.

use selvedge_postgres::Row;

use crate::error::StorageError;
use crate::request::json_body::Fields;

/// What a list does with a kind of rows.
const KINDS: [&str; 3] = ["exclude", "include", "only"];

/// Two conditions that do not depend on each other: a marker that was superseded is both noncurrent and a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HistoryFilter {
    /// `noncurrentVersions`: rows that were superseded.
    pub(crate) noncurrent: &'static str,
    /// `deleteMarkers`.
    pub(crate) markers: &'static str,
}

/// Whether a list by name was left to the statement for buckets with versions, whose rows tell theirs.
///
/// # Errors
/// `Internal` when the answer does not say.
pub(crate) fn is_left_to_versions(rows: &[Row]) -> Result<bool, StorageError> {
    let row = rows.first();
    let is_left = row.map_or(Ok(false), |row| row.try_get("keeps_versions"));
    is_left.map_err(StorageError::internal)
}

impl HistoryFilter {
    /// Reads the body of a list; `None` when it lists current objects, as clients do that know no versions.
    ///
    /// # Errors
    /// `Schema`.
    pub(crate) fn read(body: &Fields) -> Result<Option<Self>, StorageError> {
        let filter = Self {
            noncurrent: body.one_of("noncurrentVersions", &KINDS)?.unwrap_or("exclude"),
            markers: body.one_of("deleteMarkers", &KINDS)?.unwrap_or("exclude"),
        };
        Ok(Some(filter).filter(|filter| (filter.noncurrent, filter.markers) != ("exclude", "exclude")))
    }
}
