//! `DELETE /{bucket}/{key}`: removes one object, or one version of it.

use actix_web::HttpResponse;

use super::context::S3Context;
use super::error::S3Error;
use super::versions::{WantedVersion, set_marker_headers, version_id};
use super::write_condition::refuse_deletion_conditions;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::object::lookup::find_visible_object;
use crate::request::object_path::ObjectPath;
use crate::versions::{Removal, delete_keys, remove_version};

const DELETE: &str =
    "delete from only storage.objects o where o.bucket_id = $1 and o.name = $2 returning o.version";

/// `DELETE /{bucket}/{key}` → 204, also when there is no such object. In a bucket with versions the key gets a marker.
///
/// # Errors `NoSuchBucket`; `NoSuchVersion` in a bucket without versions; `AccessDenied` when it exists and the policies hide it or
/// forbid the deletion; `NotImplemented` with a condition.
pub(super) async fn delete_object(context: &S3Context, target: &ObjectPath) -> Result<HttpResponse, S3Error> {
    refuse_deletion_conditions(context.http.request.headers())?;
    let bucket = context.find_bucket(&target.bucket).await?;
    match WantedVersion::parse(context.parameter("versionId")?).in_bucket(&bucket)? {
        WantedVersion::Current if bucket.has_versions => mark_object(context, target).await,
        WantedVersion::Current => delete_current(context, target).await,
        wanted => {
            let deleted = delete_version(context, target, wanted).await;
            match deleted {
                // As in AWS, where what is gone may be deleted again.
                Err(S3Error::NoSuchVersion) => Ok(HttpResponse::NoContent().finish()),
                deleted => deleted,
            }
        }
    }
}

async fn delete_current(context: &S3Context, target: &ObjectPath) -> Result<HttpResponse, S3Error> {
    if !exists(context, target).await? {
        return Ok(HttpResponse::NoContent().finish());
    }
    let statement = Statement::new(DELETE).bind(&target.bucket).bind(&target.key);
    if context.caller.delete_objects(statement).await?.is_empty() {
        return Err(StorageError::AccessDenied("Access denied".to_owned()).into());
    }
    Ok(HttpResponse::NoContent().finish())
}

async fn mark_object(context: &S3Context, target: &ObjectPath) -> Result<HttpResponse, S3Error> {
    let service = context.service();
    let keys = [target.key.clone()];
    let markers = delete_keys(&context.caller, &service, &target.bucket, &keys).await?;
    let mut response = HttpResponse::NoContent();
    match markers.first() {
        Some(marker) => set_marker_headers(&mut response, marker),
        None if exists(context, target).await? => {
            return Err(StorageError::AccessDenied("Access denied".to_owned()).into());
        }
        None => {}
    }
    Ok(response.finish())
}

async fn delete_version(
    context: &S3Context,
    target: &ObjectPath,
    wanted: WantedVersion<'_>,
) -> Result<HttpResponse, S3Error> {
    let service = context.service();
    let mut response = HttpResponse::NoContent();
    let Some(version) = wanted.resolve(&service, target).await? else {
        return Ok(response.finish());
    };
    let removal = remove_version(&context.caller, &service, target, version.0.as_deref()).await?;
    if matches!(removal, Removal::Missing) {
        return Err(S3Error::NoSuchVersion);
    }
    let removed = removal.into_row()?;
    if removed.is_delete_marker {
        set_marker_headers(&mut response, &removed);
    } else {
        response.insert_header(("x-amz-version-id", version_id(&removed)));
    }
    Ok(response.finish())
}

async fn exists(context: &S3Context, target: &ObjectPath) -> Result<bool, S3Error> {
    match find_visible_object(&context.service(), target, None).await {
        Err(StorageError::NoSuchKey) => Ok(false),
        found => Ok(found.map(|_| true)?),
    }
}
