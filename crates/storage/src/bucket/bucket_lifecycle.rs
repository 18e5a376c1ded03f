//! `GET|PUT|DELETE /bucket/{id}/lifecycle`: rules that remove old versions of objects. Buckets keep none.

use actix_web::HttpResponse;

use crate::context::RequestContext;
use crate::error::StorageError;

/// Answers as the original does where the feature is off.
///
/// # Errors
/// Those of a missing or bad token; otherwise always `FeatureNotEnabled`.
pub(crate) fn refuse_lifecycle(context: &RequestContext) -> Result<HttpResponse, StorageError> {
    context.caller()?;
    Err(StorageError::FeatureNotEnabled("bucket_lifecycle"))
}
