//! `DELETE /cdn/…`: the original purges its CDN here; this service has none, so only the form of the request is
//! checked.

use actix_web::HttpResponse;
use selvedge_gateway::sent_path;

use crate::context::RequestContext;
use crate::error::StorageError;
use crate::response::json::message_response;

/// The part of the cache that a purge request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PurgeScope {
    Everything,
    Bucket,
    Object,
}

/// `{"message":"success"}`: nothing is cached between us and the client. Source: STORE-099.
///
/// # Errors
/// `InvalidRole` for everyone but the service role; `Schema` for an empty key.
pub(crate) fn purge_cache(context: &RequestContext, scope: PurgeScope) -> Result<HttpResponse, StorageError> {
    context.caller()?.identity().require_service()?;
    context.query.boolean("transformations")?;
    if scope == PurgeScope::Object && sent_path(context.request.uri()).ends_with('/') {
        return Err(StorageError::Schema(
            "params/* must NOT have fewer than 1 characters".to_owned(),
        ));
    }
    Ok(message_response("success"))
}
