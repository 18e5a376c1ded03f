//! `DELETE /bucket/{id}`: removes an empty bucket.

use actix_web::{HttpResponse, web};

use crate::answer::message;
use crate::error::StorageError;
use crate::json_body::{EmptyBody, read_json};
use crate::serve::Call;
use crate::session::{Session, Statement};

/// Past the policies: what is not empty stays, whoever asks.
const STATE: &str = "select exists (select from storage.objects o where o.bucket_id = b.id) as used \
     from storage.buckets b where b.id = $1";

const DELETE: &str = "delete from storage.buckets where id = $1 returning id";

/// `{"message":"Successfully deleted"}`. Source: STORE-071.
///
/// # Errors
/// `NoSuchBucket`, also when hidden or not to be deleted; `ResourceNotEmpty`; `ResourceReferenced`.
pub(crate) async fn delete_bucket(
    call: &Call,
    id: &str,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = call.caller()?;
    read_json(&call.request, payload, EmptyBody::Accepted).await?;
    remove_bucket(&call.service(), &caller, id).await?;
    Ok(message("Successfully deleted"))
}

/// Removes an empty bucket as the caller.
///
/// # Errors
/// As [`delete_bucket`].
pub(crate) async fn remove_bucket(service: &Session, caller: &Session, id: &str) -> Result<(), StorageError> {
    let state = service.read(Statement::new(STATE).bind(id)).await?;
    let used: bool = state
        .first()
        .ok_or(StorageError::NoSuchBucket)?
        .try_get("used")
        .map_err(StorageError::internal)?;
    if used {
        return Err(StorageError::ResourceNotEmpty);
    }
    // An object that arrived since is caught by its foreign key.
    match caller.write(Statement::new(DELETE).bind(id)).await {
        Ok(rows) if rows.is_empty() => Err(StorageError::NoSuchBucket),
        Ok(_) => Ok(()),
        Err(StorageError::ResourceReferenced(text)) if text.contains("\"objects\"") => {
            Err(StorageError::ResourceNotEmpty)
        }
        Err(error) => Err(error),
    }
}
