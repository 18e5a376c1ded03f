//! `DELETE /bucket/{id}`: removes an empty bucket.

use actix_web::{HttpResponse, web};

use crate::context::RequestContext;
use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::request::json_body::{EmptyBody, read_json};
use crate::response::json::message_response;

/// Run as the service, so that objects which the caller cannot see count as well.
const STATE: &str = "select exists (select from storage.objects o where o.bucket_id = b.id) as used \
     from storage.buckets b where b.id = $1";

const DELETE: &str = "delete from storage.buckets where id = $1 returning id";

/// `{"message":"Successfully deleted"}`. Source: STORE-071.
///
/// # Errors
/// `NoSuchBucket`, also when a policy hides the bucket or forbids its deletion; `ResourceNotEmpty`;
/// `ResourceReferenced`.
pub(crate) async fn delete_bucket(
    context: &RequestContext,
    id: &str,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    read_json(&context.request, payload, EmptyBody::Accepted).await?;
    remove_bucket(&context.service(), &caller, id).await?;
    Ok(message_response("Successfully deleted"))
}

/// Removes an empty bucket as the caller.
///
/// # Errors
/// As [`delete_bucket`].
pub(crate) async fn remove_bucket(
    service: &DbSession,
    caller: &DbSession,
    id: &str,
) -> Result<(), StorageError> {
    let state = service.read(Statement::new(STATE).bind(id)).await?;
    let used: bool = state
        .first()
        .ok_or(StorageError::NoSuchBucket)?
        .try_get("used")
        .map_err(StorageError::internal)?;
    if used {
        return Err(StorageError::ResourceNotEmpty);
    }
    // An object that was uploaded since then makes the DELETE fail with a foreign key violation.
    match caller.write(Statement::new(DELETE).bind(id)).await {
        Ok(rows) if rows.is_empty() => Err(StorageError::NoSuchBucket),
        Ok(_) => Ok(()),
        // The message of PostgreSQL names the referring table. Other tables than `storage.objects` belong to the
        // application, and its own reference is reported as it is.
        Err(StorageError::ResourceReferenced(text)) if text.contains("\"objects\"") => {
            Err(StorageError::ResourceNotEmpty)
        }
        Err(error) => Err(error),
    }
}
