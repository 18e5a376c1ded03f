//! JSON answers, all with the media type the original sends.

use actix_web::HttpResponse;
use bytes::Bytes;
use selvedge_postgres::{Row, column_bytes};
use serde::Serialize;
use serde_json::json;

use crate::error::StorageError;

const JSON: &str = "application/json; charset=utf-8";

/// 200 with a value.
pub(crate) fn json_answer(value: &impl Serialize) -> HttpResponse {
    match serde_json::to_vec(value) {
        Ok(body) => HttpResponse::Ok().content_type(JSON).body(body),
        Err(error) => HttpResponse::from_error(StorageError::internal(error)),
    }
}

/// 200 with `{"message": …}`.
pub(crate) fn message(text: &str) -> HttpResponse {
    json_answer(&json!({ "message": text }))
}

/// 200 with JSON that PostgreSQL rendered: the first column of the only row, unread.
///
/// # Errors
/// `Internal` when there is no such row.
pub(crate) fn rendered(rows: Vec<Row>) -> Result<HttpResponse, StorageError> {
    Ok(HttpResponse::Ok().content_type(JSON).body(rendered_bytes(rows)?))
}

/// The JSON that PostgreSQL rendered.
///
/// # Errors
/// `Internal` when there is no such row.
pub(crate) fn rendered_bytes(rows: Vec<Row>) -> Result<Bytes, StorageError> {
    let row = rows.into_iter().next();
    row.and_then(|row| column_bytes(row, 0))
        .ok_or_else(|| StorageError::internal("PostgreSQL rendered no JSON"))
}
