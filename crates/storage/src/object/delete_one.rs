//! `DELETE /object/{bucket}/{key}`: removes one object.

use actix_web::{HttpResponse, web};

use super::find;
use crate::answer::message;
use crate::error::StorageError;
use crate::json_body::{EmptyBody, read_json};
use crate::route::ObjectPath;
use crate::serve::Call;
use crate::session::Statement;

const DELETE: &str =
    "delete from storage.objects o where o.bucket_id = $1 and o.name = $2 returning o.version";

/// `{"message":"Successfully deleted"}`. Compat: whether the key exists is told to everyone with a token.
/// Source: STORE-045.
///
/// # Errors
/// `NoSuchKey`; `AccessDenied` when it exists and the policies hide it or forbid the deletion.
pub(crate) async fn delete_one(
    call: &Call,
    target: &ObjectPath,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = call.caller()?;
    read_json(&call.request, payload, EmptyBody::Refused).await?;
    find::get_visible(&call.service(), target).await?;
    let statement = Statement::new(DELETE).bind(&target.bucket).bind(&target.key);
    if caller.delete_objects(statement).await?.is_empty() {
        return Err(StorageError::AccessDenied("Access denied".to_owned()));
    }
    Ok(message("Successfully deleted"))
}
