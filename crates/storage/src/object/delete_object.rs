//! `DELETE /object/{bucket}/{key}`: removes one object.

use actix_web::{HttpResponse, web};

use super::lookup::find_visible_object;
use super::wanted_version::read_wanted_version;
use crate::context::RequestContext;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::request::json_body::{EmptyBody, read_json};
use crate::request::object_path::ObjectPath;
use crate::response::json::message_response;

const DELETE: &str = "delete from storage.objects o where o.bucket_id = $1 and o.name = $2 \
     and ($3::text is null or o.version = $3::text) returning o.version";

/// `{"message":"Successfully deleted"}`. Compat: as in the original, any caller with a token learns whether the key
/// exists. With `versionId` only an object of this version is removed. Source: STORE-045, STORE-205.
///
/// # Errors
/// `NoSuchKey`; `AccessDenied` when it exists and the policies hide it or forbid the deletion.
pub(crate) async fn delete_object(
    context: &RequestContext,
    target: &ObjectPath,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    read_json(&context.request, payload, EmptyBody::Refused).await?;
    let version = read_wanted_version(context)?;
    let row = find_visible_object(&context.service(), target).await?;
    row.with_version(version.as_deref())?;
    let statement = Statement::new(DELETE)
        .bind(&target.bucket)
        .bind(&target.key)
        .bind_optional(version);
    if caller.delete_objects(statement).await?.is_empty() {
        return Err(StorageError::AccessDenied("Access denied".to_owned()));
    }
    Ok(message_response("Successfully deleted"))
}
