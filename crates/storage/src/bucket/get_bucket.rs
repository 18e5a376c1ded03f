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
/// `NoSuchBucket`; `Schema` and `FeatureNotEnabled` for `include`.
pub(crate) async fn get_bucket(context: &RequestContext, id: &str) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    if context.query.one_of("include", &["lifecycle"])?.is_some() {
        return Err(StorageError::FeatureNotEnabled("bucket_lifecycle"));
    }
    let rows = caller.read(Statement::new(GET).bind(id)).await?;
    if rows.is_empty() {
        return Err(StorageError::NoSuchBucket);
    }
    rendered_json_response(rows)
}
