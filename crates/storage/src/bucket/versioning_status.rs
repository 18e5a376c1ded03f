//! The fields of requests that would make a bucket keep versions of its objects, which no bucket does.

use crate::error::StorageError;
use crate::request::json_body::Fields;

/// Refuses what would keep versions, or remove them after some time: to accept it would lose what the client believes is kept.
/// Returns whether `versioning_status` is given. Source: STORE-201, STORE-231.
///
/// # Errors
/// `Schema`; `InvalidParameter` for a pause of what never ran; `FeatureNotEnabled`.
pub(super) fn check_versioning(body: &Fields) -> Result<bool, StorageError> {
    if body.value("lifecycle_configuration").is_some() {
        return Err(StorageError::Schema(
            "body/lifecycle_configuration must be set by PUT /bucket/{id}/lifecycle".to_owned(),
        ));
    }
    match body.one_of("versioning_status", &["DISABLED", "ENABLED", "SUSPENDED"])? {
        None => Ok(false),
        Some("DISABLED") => Ok(true),
        Some("SUSPENDED") => Err(StorageError::InvalidParameter(
            "versioning_status: the versioning status DISABLED cannot become SUSPENDED",
        )),
        Some(_) => Err(StorageError::FeatureNotEnabled("object_versioning")),
    }
}
