//! The routes `/status`, `/version` and `/health`, for monitoring.

use actix_web::HttpResponse;
use serde_json::json;

use crate::context::RequestContext;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::response::json::json_response;

/// `GET /status`: 200 while the process is alive. Source: STORE-098.
pub(crate) fn get_status() -> HttpResponse {
    HttpResponse::Ok().finish()
}

/// `GET /version`: our version as plain text. Source: STORE-098.
pub(crate) fn get_version() -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/plain; charset=utf-8")
        .body(env!("CARGO_PKG_VERSION"))
}

/// `GET /health`: `{"healthy": bool}`, whether the database responds. Any valid token may ask. Source: STORE-098.
///
/// # Errors
/// `AccessDenied` for a missing or bad token.
pub(crate) async fn get_health(context: &RequestContext) -> Result<HttpResponse, StorageError> {
    context.caller_with_token()?;
    // As the service, so that missing grants of the caller do not look like a failure of the database.
    let healthy = context
        .service()
        .read(Statement::new("select id from storage.buckets limit 1"))
        .await
        .is_ok();
    Ok(json_response(&json!({ "healthy": healthy })))
}
