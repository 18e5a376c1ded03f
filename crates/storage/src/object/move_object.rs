//! `POST /object/move`: gives an object another key, in the same or another bucket.

use actix_web::{HttpResponse, web};
use serde_json::{Value, json};

use super::lookup::find_visible_object;
use super::pending_blob::copy_blob;
use super::relocation::{Relocation, check_destination_limits};
use crate::backend::Version;
use crate::context::RequestContext;
use crate::database::object_row::{ObjectRow, format_iso};
use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::{StorageError, UniqueKey};
use crate::identity::Owner;
use crate::request::object_path::ObjectPath;
use crate::response::json::message_response;
use crate::validation::names::is_folder_placeholder;

/// Subject to the policies for SELECT on the old row, UPDATE, and SELECT on the new row.
const TRY_MOVE: &str = "update storage.objects o set bucket_id = $3, name = $4, version = '1', \
     owner = $5::uuid, owner_id = $6 where o.bucket_id = $1 and o.name = $2 returning o.id";

/// Changes the row only if it still has the version that was copied, so that a replacement in between is not lost.
const MOVE: &str = "update storage.objects o set bucket_id = $3, name = $4, version = $5, \
     owner = $6::uuid, owner_id = $7, metadata = $8::jsonb \
     where o.id = $1::uuid and o.version = $2 returning o.id";

/// `{"message":"Successfully moved"}`. Identity, creation time and user metadata stay. In another bucket the
/// object must fulfil that bucket's limits, unlike in the original. Source: STORE-041, STORE-042, STORE-044.
///
/// # Errors
/// `InvalidKey` of the destination; `NoSuchKey` when the source is missing, hidden or not to be changed;
/// `AccessDenied`; `ResourceAlreadyExists`; `InvalidMimeType`; `EntityTooLarge`; `RelatedResourceMissing` for an
/// unknown bucket.
pub(crate) async fn move_object(
    context: &RequestContext,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    let Relocation {
        source, destination, ..
    } = Relocation::read(context, payload).await?;
    destination.check_names()?;
    let owner = Owner::from_identity(caller.identity());
    authorize_move(&caller, &source, &destination, &owner).await?;
    // Within a bucket an object has passed the limits already, unless it is the placeholder of a folder, which has none.
    let leaves_exemption = is_folder_placeholder(&source.key) && !is_folder_placeholder(&destination.key);
    if source.bucket != destination.bucket || leaves_exemption {
        let row = find_visible_object(&context.service(), &source).await?;
        check_destination_limits(context, &destination, row.mime_type(), row.size_bytes()).await?;
    }
    if source != destination {
        // A separate task, so that the move completes when the client disconnects.
        let relocation = actix_web::rt::spawn(relocate_blob(context.service(), source, destination, owner));
        relocation.await.map_err(StorageError::internal)??;
    }
    Ok(message_response("Successfully moved"))
}

/// Checks whether the policies allow the move.
async fn authorize_move(
    caller: &DbSession,
    source: &ObjectPath,
    destination: &ObjectPath,
    owner: &Owner,
) -> Result<(), StorageError> {
    let statement = Statement::new(TRY_MOVE)
        .bind(&source.bucket)
        .bind(&source.key)
        .bind(&destination.bucket)
        .bind(&destination.key)
        .bind_optional(owner.uuid())
        .bind_optional(owner.id.as_deref());
    let rows = caller.dry_run(statement).await?;
    if rows.is_empty() {
        Err(StorageError::NoSuchKey)
    } else {
        Ok(())
    }
}

/// Copies the blob, makes the row refer to the copy, and removes the old blob.
async fn relocate_blob(
    service: DbSession,
    source: ObjectPath,
    destination: ObjectPath,
    owner: Owner,
) -> Result<(), StorageError> {
    /// How often the move is tried when other requests keep replacing the source.
    const MAX_ATTEMPTS: usize = 5;
    for _ in 0..MAX_ATTEMPTS {
        let row = find_visible_object(&service, &source).await?;
        let blob = copy_blob(&service, &row).await?;
        let version = blob.version();
        let write = async {
            let is_moved = move_row(&service, &row, &destination, &owner, version).await?;
            Ok::<_, StorageError>(is_moved.then_some(()))
        };
        // When the object was replaced meanwhile, the copy has the old bytes; it is dropped and the move starts again.
        if blob.commit(write).await?.is_some() {
            if let Some(old) = row.blob_version() {
                service.storage().discard_blob(old);
            }
            return Ok(());
        }
    }
    Err(StorageError::ResourceLocked)
}

/// Moves the row to its new key. False when the object was replaced since its blob was copied.
async fn move_row(
    service: &DbSession,
    row: &ObjectRow,
    destination: &ObjectPath,
    owner: &Owner,
    version: Version,
) -> Result<bool, StorageError> {
    let mut metadata = row.metadata.clone().unwrap_or_else(|| json!({}));
    if let Value::Object(fields) = &mut metadata {
        fields.insert("lastModified".to_owned(), json!(format_iso(chrono::Utc::now())));
    }
    let statement = Statement::new(MOVE)
        .unique_violation_means(UniqueKey::Other)
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
