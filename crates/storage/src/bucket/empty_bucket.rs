//! `POST /bucket/{id}/empty`: removes all objects of a bucket, and its unfinished uploads.

use actix_web::{HttpResponse, web};

use crate::context::RequestContext;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::request::json_body::{EmptyBody, read_json};
use crate::response::json::message_response;
use crate::unfinished::abort_uploads;

/// Counts no further than the limit, so that a huge bucket is refused quickly.
const STATE: &str = "select (select count(*) from (select from storage.objects o where o.bucket_id = b.id \
     limit $2::bigint) counted) as objects, \
     now()::text as before from storage.buckets b where b.id = $1";

/// With all versions and markers, and without leaving new ones. Batches keep each transaction short. Objects that are uploaded or overwritten meanwhile stay. A date of change that is still to
/// come was written by SQL, and keeps no object.
const DELETE: &str = "delete from storage.objects where id in (select o.id from storage.objects o \
     where o.bucket_id = $1 and coalesce(o.created_at <= $2::timestamptz, true) \
     and coalesce(o.updated_at <= $2::timestamptz or o.updated_at > now() + interval '1 day', true) limit 500) \
     and (select pg_catalog.set_config('storage.object_history', 'kept', true)) = 'kept' returning version";

/// Compat: the message speaks of a queue as in the original; here the objects are deleted before the response.
/// Source: STORE-072, STORE-102.
///
/// # Errors
/// `InvalidRole` for everyone but the service role; `NoSuchBucket`; `TooManyToEmpty`.
pub(crate) async fn empty_bucket(
    context: &RequestContext,
    id: &str,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    caller.identity().require_service()?;
    read_json(&context.request, payload, EmptyBody::Accepted).await?;
    let limit = context.storage().config().empty_bucket_max_objects;
    // Counting one more than the limit is enough to detect that it is exceeded.
    let state = caller
        .read(Statement::new(STATE).bind(id).bind((limit + 1).to_string()))
        .await?;
    let state = state.first().ok_or(StorageError::NoSuchBucket)?;
    let objects: i64 = state.try_get("objects").map_err(StorageError::internal)?;
    let before: String = state.try_get("before").map_err(StorageError::internal)?;
    if objects > limit {
        return Err(StorageError::TooManyToEmpty);
    }
    // Each batch commits on its own. After a failure the earlier batches stay deleted, and the request can be repeated.
    while !caller
        .delete_objects(Statement::new(DELETE).bind(id).bind(&before))
        .await?
        .is_empty()
    {}
    abort_uploads(&context.service(), id, Some(&before)).await?;
    Ok(message_response(
        "Empty bucket has been queued. Completion may take up to an hour.",
    ))
}
