//! `POST /bucket/{id}/empty`: removes all objects of a bucket.

use actix_web::{HttpResponse, web};

use crate::answer::message;
use crate::error::StorageError;
use crate::json_body::{EmptyBody, read_json};
use crate::serve::Call;
use crate::session::Statement;

/// The count stops at the limit: it need not be exact beyond.
const STATE: &str = "select (select count(*) from (select from storage.objects o where o.bucket_id = b.id \
     limit $2::bigint) counted) as objects, \
     now()::text as before from storage.buckets b where b.id = $1";

/// Batches keep each transaction short; objects that arrive meanwhile stay.
const DELETE: &str = "delete from storage.objects where id in (select o.id from storage.objects o \
     where o.bucket_id = $1 and o.created_at <= $2::timestamptz limit 500) returning version";

/// Compat: the text speaks of a queue; the work is done before the answer. Source: STORE-072.
///
/// # Errors
/// `InvalidRole` for everyone but the service role; `NoSuchBucket`; `TooManyToEmpty`.
pub(crate) async fn empty_bucket(
    call: &Call,
    id: &str,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = call.caller()?;
    caller.identity().require_service()?;
    read_json(&call.request, payload, EmptyBody::Accepted).await?;
    let most = call.storage().config().empty_bucket_max_objects;
    let state = caller
        .read(Statement::new(STATE).bind(id).bind((most + 1).to_string()))
        .await?;
    let state = state.first().ok_or(StorageError::NoSuchBucket)?;
    let objects: i64 = state.try_get("objects").map_err(StorageError::internal)?;
    let before: String = state.try_get("before").map_err(StorageError::internal)?;
    if objects > most {
        return Err(StorageError::TooManyToEmpty);
    }
    while !caller
        .delete_objects(Statement::new(DELETE).bind(id).bind(&before))
        .await?
        .is_empty()
    {}
    Ok(message(
        "Empty bucket has been queued. Completion may take up to an hour.",
    ))
}
