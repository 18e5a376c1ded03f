//! `POST /object/move`: gives an object another key, in the same or another bucket.

use actix_web::{HttpResponse, web};
use serde_json::{Value, json};

use super::commit::copy_blob;
use super::find;
use crate::answer::message;
use crate::backend::Version;
use crate::error::{StorageError, Taken};
use crate::identity::Owner;
use crate::json_body::read_object;
use crate::names::{check_bucket_name, check_key};
use crate::object_row::{ObjectRow, iso};
use crate::route::ObjectPath;
use crate::serve::Call;
use crate::session::{Session, Statement};

/// Asks SELECT on the old row, UPDATE, and SELECT on the new one.
const PROBE: &str = "update storage.objects o set bucket_id = $3, name = $4, version = '1', \
     owner = $5::uuid, owner_id = $6 where o.bucket_id = $1 and o.name = $2 returning o.id";

/// Only if the object is still what was copied: a replacement in between must not be lost.
const MOVE: &str = "update storage.objects o set bucket_id = $3, name = $4, version = $5, \
     owner = $6::uuid, owner_id = $7, metadata = $8::jsonb \
     where o.id = $1::uuid and o.version = $2 returning o.id";

/// Source, destination.
pub(super) async fn read_paths(
    call: &Call,
    payload: web::Payload,
) -> Result<(ObjectPath, ObjectPath, crate::json_body::Fields), StorageError> {
    let body = read_object(&call.request, payload).await?;
    let source = ObjectPath {
        bucket: body.required_text("bucketId")?,
        key: body.required_text("sourceKey")?,
    };
    let key = body.required_text("destinationKey")?;
    let bucket = body
        .text("destinationBucket")?
        .filter(|bucket| !bucket.is_empty());
    let destination = ObjectPath {
        bucket: bucket.unwrap_or_else(|| source.bucket.clone()),
        key,
    };
    Ok((source, destination, body))
}

/// `{"message":"Successfully moved"}`. Identity, creation time and user metadata stay. Compat: the limits of the
/// destination bucket are not applied. Source: STORE-041, STORE-042, STORE-044.
///
/// # Errors
/// `InvalidKey` of the destination; `NoSuchKey` when the source is missing, hidden or not to be changed;
/// `AccessDenied`; `ResourceAlreadyExists`; `RelatedResourceMissing` for an unknown bucket.
pub(crate) async fn move_object(call: &Call, payload: web::Payload) -> Result<HttpResponse, StorageError> {
    let caller = call.caller()?;
    let (source, destination, _) = read_paths(call, payload).await?;
    check_bucket_name(&destination.bucket)?;
    check_key(&destination.key)?;
    let owner = Owner::of(caller.identity());
    probe(&caller, &source, &destination, &owner).await?;
    if source != destination {
        // Begun is finished, even when the client goes away meanwhile.
        let relocation = actix_web::rt::spawn(relocate(call.service(), source, destination, owner));
        relocation.await.map_err(StorageError::internal)??;
    }
    Ok(message("Successfully moved"))
}

async fn probe(
    caller: &Session,
    source: &ObjectPath,
    destination: &ObjectPath,
    owner: &Owner,
) -> Result<(), StorageError> {
    let statement = Statement::new(PROBE)
        .bind(&source.bucket)
        .bind(&source.key)
        .bind(&destination.bucket)
        .bind(&destination.key)
        .bind_optional(owner.uuid())
        .bind_optional(owner.id.as_deref());
    let rows = caller.probe(statement).await?;
    if rows.is_empty() {
        Err(StorageError::NoSuchKey)
    } else {
        Ok(())
    }
}

/// Copies the blob, moves the row to the copy, and drops the old blob.
async fn relocate(
    service: Session,
    source: ObjectPath,
    destination: ObjectPath,
    owner: Owner,
) -> Result<(), StorageError> {
    /// Replacements of the source that are followed.
    const ATTEMPTS: usize = 5;
    for _ in 0..ATTEMPTS {
        let row = find::get_visible(&service, &source).await?;
        let blob = copy_blob(&service, &row).await?;
        if move_row(&service, &row, &destination, &owner, blob.version()).await? {
            blob.keep();
            if let Some(old) = row.blob_version() {
                service.worker().storage().discard(old);
            }
            return Ok(());
        }
    }
    Err(StorageError::ResourceLocked)
}

/// Whether the row was still what it was when its blob was copied.
async fn move_row(
    service: &Session,
    row: &ObjectRow,
    destination: &ObjectPath,
    owner: &Owner,
    version: Version,
) -> Result<bool, StorageError> {
    let mut metadata = row.metadata.clone().unwrap_or_else(|| json!({}));
    if let Value::Object(fields) = &mut metadata {
        fields.insert("lastModified".to_owned(), json!(iso(chrono::Utc::now())));
    }
    let statement = Statement::new(MOVE)
        .taken_means(Taken::Resource)
        .bind(row.id.to_string())
        .bind_optional(row.version.as_deref())
        .bind(&destination.bucket)
        .bind(&destination.key)
        .bind(version.to_string())
        .bind_optional(owner.uuid())
        .bind_optional(owner.id.as_deref())
        .bind(metadata.to_string());
    Ok(!service.write(statement).await?.is_empty())
}
