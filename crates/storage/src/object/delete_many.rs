//! `DELETE /object/{bucket}` with `{"prefixes": […]}`: removes objects by exact key, whatever the field is called.

use actix_web::{HttpResponse, web};
use serde_json::json;

use crate::answer::json_answer;
use crate::error::StorageError;
use crate::json_body::read_object;
use crate::names::check_bucket_name;
use crate::object_row::{ObjectRow, object_columns};
use crate::serve::Call;
use crate::session::Statement;

/// Keys per transaction; earlier batches stay deleted when a later one fails.
const BATCH: usize = 500;

const DELETE: &str = concat!(
    "delete from storage.objects o where o.bucket_id = $1 ",
    "and o.name = any (array(select jsonb_array_elements_text($2::jsonb))) returning ",
    object_columns!(),
);

/// The deleted rows. Keys that are missing or that the caller may not delete are skipped in silence.
/// Source: STORE-019, STORE-020.
///
/// # Errors
/// `Schema`, `InvalidBucketName`.
pub(crate) async fn delete_many(
    call: &Call,
    bucket: &str,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = call.caller()?;
    let keys = read_object(&call.request, payload)
        .await?
        .required_texts("prefixes", None)?;
    check_bucket_name(bucket)?;
    let mut deleted = Vec::new();
    for batch in keys.chunks(BATCH) {
        let statement = Statement::new(DELETE).bind(bucket).bind(json!(batch).to_string());
        for row in caller.delete_objects(statement).await? {
            deleted.push(ObjectRow::read(&row)?);
        }
    }
    Ok(json_answer(&deleted))
}
