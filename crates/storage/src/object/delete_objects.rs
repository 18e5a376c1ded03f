//! `DELETE /object/{bucket}` with `{"prefixes": […]}`: removes objects by exact key. Compat: the field is called
//! `prefixes`, but its entries are keys.

use actix_web::{HttpResponse, web};
use serde_json::json;

use crate::context::RequestContext;
use crate::database::object_row::{ObjectRow, object_columns};
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::request::json_body::read_object;
use crate::response::json::json_response;
use crate::validation::names::check_bucket_name;

/// Most keys of one request: those of upstream with its hard limits, which are off there by default.
const MAX_KEYS: usize = 1000;
/// Keys per transaction. Earlier batches stay deleted when a later one fails.
const BATCH: usize = 500;

const DELETE: &str = concat!(
    "delete from storage.objects o where o.bucket_id = $1 ",
    "and o.name = any (array(select jsonb_array_elements_text($2::jsonb))) returning ",
    object_columns!(),
);

/// The deleted rows. Keys that are missing or that the caller may not delete are skipped without an error.
/// Source: STORE-019, STORE-020.
///
/// # Errors
/// `Schema`, `InvalidBucketName`.
pub(crate) async fn delete_objects(
    context: &RequestContext,
    bucket: &str,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    let keys = read_object(&context.request, payload)
        .await?
        .required_texts("prefixes", Some(MAX_KEYS))?;
    check_bucket_name(bucket)?;
    let mut deleted = Vec::new();
    for batch in keys.chunks(BATCH) {
        let statement = Statement::new(DELETE).bind(bucket).bind(json!(batch).to_string());
        for row in caller.delete_objects(statement).await? {
            deleted.push(ObjectRow::read(&row)?);
        }
    }
    Ok(json_response(&deleted))
}
