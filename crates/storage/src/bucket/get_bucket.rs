//! `GET /bucket/{id}`: one bucket.

use actix_web::HttpResponse;

use super::list_buckets::is_old_python_client;
use crate::context::RequestContext;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::response::json::rendered_json_response;

const GET: &str = include_str!("../sql/get_bucket.sql");

/// One row; with `include=lifecycle` also its rules. Source: STORE-031, STORE-231.
///
/// # Errors
/// `NoSuchBucket`; `Schema` for another `include`.
pub(crate) async fn get_bucket(context: &RequestContext, id: &str) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    let includes_rules = context.query.one_of("include", &["lifecycle"])?.is_some();
    let statement = Statement::new(GET)
        .bind(id)
        .bind(includes_rules.to_string())
        .bind((!is_old_python_client(context)).to_string());
    let rows = caller.read(statement).await?;
    if rows.is_empty() {
        return Err(StorageError::NoSuchBucket);
    }
    rendered_json_response(rows)
}
