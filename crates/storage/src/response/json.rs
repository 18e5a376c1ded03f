//! JSON responses, with the media type that the original sends.

use actix_web::HttpResponse;
use bytes::Bytes;
use selvedge_postgres::Row;
use serde::Serialize;
use serde_json::json;

use crate::error::StorageError;

const JSON: &str = "application/json; charset=utf-8";

/// 200 with a value.
pub(crate) fn json_response(value: &impl Serialize) -> HttpResponse {
    match serde_json::to_vec(value) {
        Ok(body) => HttpResponse::Ok().content_type(JSON).body(body),
        Err(error) => HttpResponse::from_error(StorageError::internal(error)),
    }
}

/// 200 with `{"message": …}`.
pub(crate) fn message_response(text: &str) -> HttpResponse {
    json_response(&json!({ "message": text }))
}

/// Returns 200 with JSON that PostgreSQL rendered, the first column of the only row. It is passed on without being parsed.
///
/// # Errors `Internal` when there is no such row.
pub(crate) fn rendered_json_response(rows: Vec<Row>) -> Result<HttpResponse, StorageError> {
    Ok(HttpResponse::Ok()
        .content_type(JSON)
        .body(take_rendered_json(rows)?))
}

/// Returns the JSON that PostgreSQL rendered, the first column of the only row.
///
/// # Errors `Internal` when there is no such row.
pub(crate) fn take_rendered_json(rows: Vec<Row>) -> Result<Bytes, StorageError> {
    let row = rows.into_iter().next();
    row.and_then(|row| row.bytes(0))
        .ok_or_else(|| StorageError::internal("PostgreSQL rendered no JSON"))
}
