//! `GET /bucket/{id}`: one bucket.

use actix_web::HttpResponse;

use crate::answer::rendered;
use crate::error::StorageError;
use crate::serve::Call;
use crate::session::Statement;

const GET: &str = include_str!("../sql/get_bucket.sql");

/// One row, without `type`. Source: STORE-031.
///
/// # Errors
/// `NoSuchBucket`.
pub(crate) async fn get_bucket(call: &Call, id: &str) -> Result<HttpResponse, StorageError> {
    let rows = call.caller()?.read(Statement::new(GET).bind(id)).await?;
    if rows.is_empty() {
        return Err(StorageError::NoSuchBucket);
    }
    rendered(rows)
}
