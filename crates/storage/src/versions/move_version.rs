//! Moves one version to another key, where it becomes the current object; the history of its old key loses it. Source: STORE-218.

use deadpool_postgres::Transaction;
use serde_json::{Value, json};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::find_version::find_version;
use crate::backend::Version;
use crate::context::RequestContext;
use crate::database::object_row::{ObjectRow, format_iso};
use crate::database::session::DbSession;
use crate::error::{StorageError, UniqueKey};
use crate::identity::Owner;
use crate::object::commit::{connect, limit_wait};
use crate::object::pending_blob::copy_blob;
use crate::object::relocation::check_destination_limits;
use crate::request::object_path::ObjectPath;

/// Subject to the policies for SELECT and UPDATE on the version's row, and on the row that it becomes.
const TRY_MOVE: &str = "update storage.objects o set bucket_id = $4, name = $5, version = '1', owner = $6::text::uuid, owner_id = $7 \
     where o.bucket_id = $1 and o.name = $2 and o.version = $3 and not o.is_delete_marker returning o.id";

/// The try leaves the version in the history, under the key of the destination, where a version or marker without versioning may be: a key
/// has one. It therefore counts as one with versioning while the policies are asked.
const FREE_SLOT: &str = "update storage.object_history h set is_versioned = true \
     where h.bucket_id = $1 and h.name = $2 and h.version = $3 and not h.is_versioned \
     and (select pg_catalog.set_config('storage.object_versions', 'all', true)) = 'all'";

/// A version that was written without versioning, and whose place the destination takes, is removed by the rights of the caller.
const TRY_REPLACE: &str = "select storage.give_up_null_version($1, $2, true)";

/// The id of the object that the version becomes, or null without such a version.
const MOVE: &str = "select storage.move_object_version($1, $2, $3, $4::text::jsonb)";

/// The move that a caller asks for.
pub(crate) struct VersionMove {
    pub(crate) caller: DbSession,
    pub(crate) source: ObjectPath,
    pub(crate) version: String,
    pub(crate) destination: ObjectPath,
    /// Who owns the object afterwards.
    pub(crate) owner: Owner,
}

/// Moves the version, and returns the id of the object that it becomes. Runs as a separate task, so that it completes when the client
/// disconnects.
///
/// # Errors
/// `NoSuchKey` when the version is missing, hidden or not to be changed; `ResourceAlreadyExists`; those of the destination's limits.
pub(crate) async fn move_version(context: &RequestContext, moved: VersionMove) -> Result<Uuid, StorageError> {
    let row = find_version(&moved.caller, &moved.source, &moved.version).await?;
    check_destination_limits(context, &moved.destination, row.mime_type(), row.size_bytes()).await?;
    let service = context.service();
    let relocation = actix_web::rt::spawn(async move {
        let blob = copy_blob(&service, &row).await?;
        let version = blob.version();
        let write = async { moved.commit(&service, &row, version).await.map(Some) };
        let id = blob.commit(write).await?.ok_or(StorageError::NoSuchKey)?;
        if let Some(old) = row.blob_version() {
            service.storage().discard_blob(old);
        }
        Ok(id)
    });
    relocation.await.map_err(StorageError::internal)?
}

impl VersionMove {
    async fn commit(
        &self,
        service: &DbSession,
        row: &ObjectRow,
        version: Version,
    ) -> Result<Uuid, StorageError> {
        let mut client = connect(service.storage()).await?;
        let mut transaction = service.transaction(&mut client).await?;
        limit_wait(service.storage(), &transaction).await?;
        self.ask_within(&mut transaction).await?;
        let id = self.write(&transaction, row, version).await?;
        let end = transaction.commit().await;
        end.map_err(|error| StorageError::from_commit(error, UniqueKey::Other))?;
        Ok(id)
    }

    /// Asks the policies by moving the row and going back.
    async fn ask_within(&self, transaction: &mut Transaction<'_>) -> Result<(), StorageError> {
        let savepoint = transaction.savepoint("asked").await.map_err(map_error)?;
        let source: [&(dyn ToSql + Sync); 3] = [&self.source.bucket, &self.source.key, &self.version];
        let freed = savepoint.execute(FREE_SLOT, &source).await;
        freed.map_err(map_error)?;
        self.caller.with_versions().become_caller(&savepoint).await?;
        let owner = self.owner.uuid();
        let values: [&(dyn ToSql + Sync); 7] = [
            &self.source.bucket,
            &self.source.key,
            &self.version,
            &self.destination.bucket,
            &self.destination.key,
            &owner,
            &self.owner.id,
        ];
        let asked = async {
            let moved = savepoint.query_opt(TRY_MOVE, &values).await?;
            savepoint
                .query_one(TRY_REPLACE, &[&self.destination.bucket, &self.destination.key])
                .await?;
            Ok::<_, tokio_postgres::Error>(moved)
        };
        let asked = asked.await;
        savepoint.rollback().await.map_err(map_error)?;
        asked.map_err(map_error)?.map(drop).ok_or(StorageError::NoSuchKey)
    }

    async fn write(
        &self,
        transaction: &Transaction<'_>,
        row: &ObjectRow,
        version: Version,
    ) -> Result<Uuid, StorageError> {
        let mut metadata = row.metadata.clone().unwrap_or_else(|| json!({}));
        if let Value::Object(fields) = &mut metadata {
            fields.insert("lastModified".to_owned(), json!(format_iso(chrono::Utc::now())));
        }
        let changes = json!({
            "bucket_id": self.destination.bucket,
            "name": self.destination.key,
            "version": version.to_string(),
            "owner": self.owner.uuid(),
            "owner_id": self.owner.id,
            "metadata": metadata,
        });
        let changes = changes.to_string();
        let values: [&(dyn ToSql + Sync); 4] =
            [&self.source.bucket, &self.source.key, &self.version, &changes];
        let moved = transaction.query_one(MOVE, &values).await.map_err(map_error)?;
        let id: Option<Uuid> = moved.try_get(0).map_err(StorageError::internal)?;
        id.ok_or(StorageError::NoSuchKey)
    }
}

fn map_error(error: tokio_postgres::Error) -> StorageError {
    match StorageError::from_tokio_postgres(error, UniqueKey::Other) {
        StorageError::ResourceLocked => StorageError::LockTimeout,
        other => other,
    }
}
