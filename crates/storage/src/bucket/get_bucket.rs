//! `GET /bucket/{id}`: one bucket.

use actix_web::HttpResponse;

use crate::context::RequestContext;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::response::json::rendered_json_response;

const GET: &str = include_str!("../sql/get_bucket.sql");

/// One row, without `type`. Source: STORE-031.
///
/// # Errors
/// `NoSuchBucket`.
pub(crate) async fn get_bucket(context: &RequestContext, id: &str) -> Result<HttpResponse, StorageError> {
    let rows = context.caller()?.read(Statement::new(GET).bind(id)).await?;
    if rows.is_empty() {
        return Err(StorageError::NoSuchBucket);
    }
    rendered_json_response(rows)
}
