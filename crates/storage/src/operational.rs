//! Health, version and cache purge.

use actix_web::HttpResponse;
use serde_json::json;

use crate::answer::{json_answer, message};
use crate::error::StorageError;
use crate::route::PurgeScope;
use crate::serve::Call;
use crate::session::Statement;

/// `GET /status`: the process is alive. Source: STORE-098.
pub(crate) fn status() -> HttpResponse {
    HttpResponse::Ok().finish()
}

/// `GET /version`: plain text. Source: STORE-098.
pub(crate) fn version() -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/plain; charset=utf-8")
        .body(env!("CARGO_PKG_VERSION"))
}

/// `GET /health`: whether the database answers; any valid token may ask. Source: STORE-098.
pub(crate) async fn health(call: &Call) -> Result<HttpResponse, StorageError> {
    // Compat: without a token this route complains about the token, not about the header.
    call.caller().map_err(|error| match error {
        StorageError::Schema(_) => StorageError::AccessDenied("Invalid Compact JWS".to_owned()),
        other => other,
    })?;
    let healthy = call
        .service()
        .read(Statement::new("select id from storage.buckets limit 1"))
        .await
        .is_ok();
    Ok(json_answer(&json!({ "healthy": healthy })))
}

/// `DELETE /cdn/…`: there is no cache between us and the client, so a purge has nothing left to do.
/// Source: STORE-099.
pub(crate) fn purge_cache(call: &Call, scope: &PurgeScope) -> Result<HttpResponse, StorageError> {
    call.caller()?.identity().require_service()?;
    call.query.boolean("transformations")?;
    if *scope == PurgeScope::Object && call.request.uri().path().ends_with('/') {
        return Err(StorageError::Schema(
            "params/* must NOT have fewer than 1 characters".to_owned(),
        ));
    }
    Ok(message("success"))
}
