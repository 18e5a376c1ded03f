//! `DELETE /object/{bucket}/{key}`: removes one object.

use actix_web::{HttpResponse, web};

use super::lookup::find_visible_object;
use crate::context::RequestContext;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::request::json_body::{EmptyBody, read_json};
use crate::request::object_path::ObjectPath;
use crate::response::json::message_response;
use crate::versions::{discard_null_versions, list_null_versions, read_wanted_version, remove_version};

const DELETE: &str = "delete from only storage.objects o where o.bucket_id = $1 and o.name = $2 \
     returning o.version";

/// `{"message":"Successfully deleted"}`. Compat: as in the original, any caller with a token learns whether the key
/// exists. In a bucket with versions the key gets a marker; with `versionId` that row is removed for good, also if it is a marker.
/// Source: STORE-045, STORE-205, STORE-208, STORE-210.
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
    let service = context.service();
    match read_wanted_version(context)? {
        None => {
            let row = find_visible_object(&service, target, None).await?;
            let superseded = match row.is_versioned {
                true => list_null_versions(&service, &target.bucket, &[&target.key]).await?,
                false => Vec::new(),
            };
            let statement = Statement::new(DELETE).bind(&target.bucket).bind(&target.key);
            if caller.delete_objects(statement).await?.is_empty() {
                return Err(StorageError::AccessDenied("Access denied".to_owned()));
            }
            discard_null_versions(service.storage(), &superseded);
        }
        Some(version) => {
            let removal = remove_version(&caller, &service, target, Some(&version)).await?;
            removal.into_row()?;
        }
    }
    Ok(message_response("Successfully deleted"))
}
