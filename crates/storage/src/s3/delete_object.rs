//! `DELETE /{bucket}/{key}`: removes one object.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::context::S3Context;
use super::error::S3Error;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::object::lookup::find_visible_object;
use crate::request::object_path::ObjectPath;

const DELETE: &str =
    "delete from storage.objects o where o.bucket_id = $1 and o.name = $2 returning o.version";

/// `DELETE /{bucket}/{key}` → 204, also when there is no such object.
///
/// # Errors `NoSuchBucket`; `AccessDenied` when it exists and the policies hide it or forbid the deletion.
pub(super) async fn delete_object(context: &S3Context, target: &ObjectPath) -> Result<HttpResponse, S3Error> {
    context.find_bucket(&target.bucket).await?;
    let no_content = || Ok(HttpResponse::build(StatusCode::NO_CONTENT).finish());
    match find_visible_object(&context.service(), target).await {
        Err(StorageError::NoSuchKey) => return no_content(),
        found => found?,
    };
    let statement = Statement::new(DELETE).bind(&target.bucket).bind(&target.key);
    if context.caller.delete_objects(statement).await?.is_empty() {
        return Err(StorageError::AccessDenied("Access denied".to_owned()).into());
    }
    no_content()
}
