//! `DELETE /bucket/{id}`: removes an empty bucket, and its unfinished uploads.

use actix_web::{HttpResponse, web};

use crate::context::RequestContext;
use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::request::json_body::{EmptyBody, read_json};
use crate::response::json::message_response;
use crate::unfinished::{abort_multipart_uploads, abort_uploads};

/// Run as the service, so that objects which the caller cannot see count as well, and versions and markers.
const STATE: &str = "select exists (select from storage.objects o where o.bucket_id = b.id) as used \
     from storage.buckets b where b.id = $1";

const DELETE: &str = "delete from storage.buckets where id = $1 returning id";

/// How often the bucket is tried to be deleted while clients begin uploads in it.
const MAX_ATTEMPTS: usize = 5;

/// `{"message":"Successfully deleted"}`. Source: STORE-071, STORE-102.
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

/// Removes an empty bucket as the caller, and the unfinished uploads in it as the service.
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
    for _ in 0..MAX_ATTEMPTS {
        // An object that was uploaded since then makes the DELETE fail with a foreign key violation, and so does an unfinished upload.
        match caller.write(Statement::new(DELETE).bind(id)).await {
            Ok(rows) if rows.is_empty() => return Err(StorageError::NoSuchBucket),
            Ok(_) => {
                // Resumable uploads do not refer to the bucket. Those that stay here expire.
                if let Err(error) = abort_uploads(service, id, None).await {
                    tracing::warn!(%error, "unfinished uploads of a deleted bucket could not be removed");
                }
                return Ok(());
            }
            // The message of PostgreSQL names the referring table. Other tables than those of the service belong to the
            // application, and its own reference is reported as it is.
            Err(StorageError::ResourceReferenced(text))
                if text.contains("\"objects\"") || text.contains("\"object_history\"") =>
            {
                return Err(StorageError::ResourceNotEmpty);
            }
            // Policies have let the caller delete the bucket: a reference is found only by a row that is deleted.
            Err(StorageError::ResourceReferenced(text)) if text.contains("\"s3_multipart_uploads") => {
                abort_multipart_uploads(service, id).await?;
            }
            Err(error) => return Err(error),
        }
    }
    Err(StorageError::ResourceNotEmpty)
}
