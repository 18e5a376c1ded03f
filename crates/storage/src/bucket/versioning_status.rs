//! The field `versioning_status` of requests that create or change a bucket: whether it keeps versions of its objects.

use crate::error::StorageError;
use crate::request::json_body::Fields;

const STATES: [&str; 3] = ["DISABLED", "ENABLED", "SUSPENDED"];

/// Reads the field. Rules that remove versions have a call of their own. Source: STORE-200, STORE-231.
///
/// # Errors
/// `Schema`.
pub(super) fn read_versioning_status(body: &Fields) -> Result<Option<&'static str>, StorageError> {
    if body.value("lifecycle_configuration").is_some() {
        return Err(StorageError::Schema(
            "body/lifecycle_configuration must be set by PUT /bucket/{id}/lifecycle".to_owned(),
        ));
    }
    body.one_of("versioning_status", &STATES)
}

/// Reads the status of a new bucket, which cannot pause what never ran.
///
/// # Errors
/// `Schema`, `InvalidParameter`.
pub(super) fn read_first_status(body: &Fields) -> Result<&'static str, StorageError> {
    match read_versioning_status(body)? {
        Some("SUSPENDED") => Err(StorageError::InvalidText(
            "The versioning status cannot change from DISABLED to SUSPENDED".to_owned(),
        )),
        status => Ok(status.unwrap_or("DISABLED")),
    }
}
