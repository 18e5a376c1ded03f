//! `POST /object/move`: gives an object another key, in the same or another bucket.
//!
//! The caller's policies are asked by trying the move and rolling back. That names one object, by its id and version, and only
//! this one is moved: while its bytes are copied, somebody else may store another object at the same key. When the copy is there,
//! the policies are asked once more, in the transaction that has locked the object and then moves it. In a bucket with versions what was
//! moved stays in the history of its old key; a version that is named leaves it ([`move_version`]).

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use serde_json::{Value, json};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::commit::{connect, limit_wait};
use super::lookup::{find_bucket, find_bucket_within};
use super::pending_blob::copy_blob;
use super::relocation::{Relocation, check_destination_limits, check_limits_of};
use crate::backend::Version;
use crate::context::RequestContext;
use crate::database::object_row::{ObjectRow, format_iso, object_columns};
use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::{StorageError, UniqueKey};
use crate::identity::Owner;
use crate::request::object_path::ObjectPath;
use crate::response::json::{json_response, message_response};
use crate::validation::names::{check_bucket_name, check_key, is_folder_placeholder};
use crate::versions::{VersionMove, discard_null_versions, list_null_versions, move_version};

/// How often a move begins anew when other requests keep replacing the source.
const MAX_ATTEMPTS: usize = 5;

/// Subject to the policies for SELECT on the old row, UPDATE, and SELECT on the new row. Returns which object it was: `o` is the
/// row before the update, whose version `returning` does not have otherwise before PostgreSQL 18.
const TRY_MOVE: &str = "update only storage.objects moved set bucket_id = $3, name = $4, version = '1', \
     owner = $5::text::uuid, owner_id = $6 from only storage.objects o \
     where moved.bucket_id = $1 and moved.name = $2 and o.id = moved.id \
     and ($7::text is null or moved.version = $7::text) returning o.id, o.version";

/// The object that the policies were asked about, unless it was changed since.
const OBJECT: &str = concat!(
    "select ",
    object_columns!(),
    " from only storage.objects o where o.id = $1::text::uuid and o.version is not distinct from $2 \
     and o.bucket_id = $3 and o.name = $4"
);

/// The same, against other writers, moves, deletions and SQL of the application until the transaction ends.
const LOCK: &str = "select o.id from only storage.objects o where o.id = $1 and o.version is not distinct from $2 \
     and o.bucket_id = $3 and o.name = $4 for update";

const MOVE: &str = "update only storage.objects o set bucket_id = $2, name = $3, version = $4, \
     owner = $5::text::uuid, owner_id = $6, metadata = $7::text::jsonb where o.id = $1";

/// `{"message":"Successfully moved"}`, and `Id` and `Key` where a bucket has versions, which older clients do not know. Identity,
/// creation time and user metadata stay. In another bucket the object must fulfil that bucket's limits, unlike in the original. Source:
/// STORE-041, STORE-042, STORE-044, STORE-218.
///
/// # Errors
/// `InvalidBucketName` of the source; `InvalidKey` of the destination; `NoSuchKey` when the source is missing, hidden or not to be changed;
/// `AccessDenied`; `ResourceAlreadyExists`; `InvalidMimeType`; `EntityTooLarge`; `RelatedResourceMissing` for an
/// unknown bucket; `LockTimeout` when others keep changing the source.
pub(crate) async fn move_object(
    context: &RequestContext,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    let Relocation {
        source,
        destination,
        source_version,
        ..
    } = Relocation::read(context, payload).await?;
    // Whether there is such a bucket is told after the policies were asked, as in the original.
    check_bucket_name(&source.bucket)?;
    check_key(&destination.key)?;
    let owner = Owner::from_identity(caller.identity());
    let (leaves, enters) = find_versioning(context, &source.bucket, &destination.bucket).await?;
    let mut superseded = leaves.list_superseded(context, &source).await?;
    superseded.extend(enters.list_superseded(context, &destination).await?);
    let answer = Answer {
        knows_versions: leaves.has_versions || enters.has_versions,
        key: format!("{}/{}", destination.bucket, destination.key),
    };
    let version = source_version.clone().filter(|_| leaves.has_versions);
    let asked = AskedMove {
        caller,
        source,
        source_version,
        destination,
        owner,
    };
    let id = match version {
        Some(version) => move_version(context, asked.of_version(version)).await?,
        None => asked.try_often(context).await?,
    };
    discard_null_versions(context.storage(), &superseded);
    Ok(answer.of(id))
}

/// What a bucket does with versions.
#[derive(Clone, Copy, Default)]
struct Versioning {
    has_versions: bool,
    is_paused: bool,
}

impl Versioning {
    /// Whether the bucket exists is told by the move itself.
    async fn find(context: &RequestContext, bucket: &str) -> Result<Self, StorageError> {
        match find_bucket(&context.service(), bucket).await {
            Ok(bucket) => Ok(Self {
                has_versions: bucket.has_versions,
                is_paused: bucket.is_paused,
            }),
            Err(StorageError::NoSuchBucket) => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// The versions of a key that the move removes.
    async fn list_superseded(
        self,
        context: &RequestContext,
        place: &ObjectPath,
    ) -> Result<Vec<Version>, StorageError> {
        match self.is_paused {
            true => list_null_versions(&context.service(), &place.bucket, &[&place.key]).await,
            false => Ok(Vec::new()),
        }
    }
}

/// What source and destination do with versions.
async fn find_versioning(
    context: &RequestContext,
    source: &str,
    destination: &str,
) -> Result<(Versioning, Versioning), StorageError> {
    let leaves = Versioning::find(context, source).await?;
    let enters = match source == destination {
        true => leaves,
        false => Versioning::find(context, destination).await?,
    };
    Ok((leaves, enters))
}

/// What the response says.
struct Answer {
    knows_versions: bool,
    key: String,
}

impl Answer {
    fn of(&self, id: Uuid) -> HttpResponse {
        if self.knows_versions {
            json_response(&json!({"message": "Successfully moved", "Id": id, "Key": self.key}))
        } else {
            message_response("Successfully moved")
        }
    }
}

/// The move that a caller asks for.
#[derive(Clone)]
struct AskedMove {
    caller: DbSession,
    source: ObjectPath,
    /// The version that the source must have.
    source_version: Option<String>,
    destination: ObjectPath,
    /// Who owns the object afterwards.
    owner: Owner,
}

/// The object that the caller may move: the bytes of a version never change.
struct Probed {
    id: Uuid,
    version: Option<String>,
}

impl AskedMove {
    /// The move of one version.
    fn of_version(self, version: String) -> VersionMove {
        VersionMove {
            caller: self.caller,
            source: self.source,
            version,
            destination: self.destination,
            owner: self.owner,
        }
    }

    /// Moves the object, and returns its id.
    ///
    /// # Errors
    /// Those of the move; `LockTimeout` when others keep changing the source.
    async fn try_often(&self, context: &RequestContext) -> Result<Uuid, StorageError> {
        for _ in 0..MAX_ATTEMPTS {
            if let Some(id) = self.try_once(context).await? {
                return Ok(id);
            }
        }
        Err(StorageError::LockTimeout)
    }

    /// Moves the object that the source's key has now, and returns its id. `None` when the object was changed or replaced meanwhile,
    /// because the policies were asked about the earlier one.
    async fn try_once(&self, context: &RequestContext) -> Result<Option<Uuid>, StorageError> {
        let probed = self.ask().await?;
        if self.source == self.destination {
            return Ok(Some(probed.id));
        }
        let Some(row) = self.find(&context.service(), &probed).await? else {
            return Ok(None);
        };
        if self.enters_limits() {
            let (mime_type, size_bytes) = (row.mime_type(), row.size_bytes());
            check_destination_limits(context, &self.destination, mime_type, size_bytes).await?;
        }
        // A separate task, so that the move completes when the client disconnects.
        let relocation = actix_web::rt::spawn(self.clone().relocate(context.service(), row));
        let is_moved = relocation.await.map_err(StorageError::internal)??;
        Ok(is_moved.then_some(probed.id))
    }

    /// Whether the object may not have passed the limits of its destination yet. Within a bucket it has, unless it is the
    /// placeholder of a folder, which has none.
    fn enters_limits(&self) -> bool {
        let leaves_exemption =
            is_folder_placeholder(&self.source.key) && !is_folder_placeholder(&self.destination.key);
        self.source.bucket != self.destination.bucket || leaves_exemption
    }

    /// Asks whether the policies allow the move, and of which object.
    ///
    /// # Errors
    /// `NoSuchKey`, `AccessDenied`, `ResourceAlreadyExists`, `RelatedResourceMissing`.
    async fn ask(&self) -> Result<Probed, StorageError> {
        let statement = Statement::new(TRY_MOVE)
            .unique_violation_means(UniqueKey::Other)
            .bind(&self.source.bucket)
            .bind(&self.source.key)
            .bind(&self.destination.bucket)
            .bind(&self.destination.key)
            .bind_optional(self.owner.uuid())
            .bind_optional(self.owner.id.as_deref())
            .bind_optional(self.source_version.as_deref());
        let rows = self.caller.dry_run(statement).await?;
        let row = rows.first().ok_or(StorageError::NoSuchKey)?;
        Ok(Probed {
            id: row.try_get("id").map_err(StorageError::internal)?,
            version: row.try_get("version").map_err(StorageError::internal)?,
        })
    }

    /// The row of the object; `None` when it was changed since it was asked about.
    async fn find(&self, service: &DbSession, probed: &Probed) -> Result<Option<ObjectRow>, StorageError> {
        let statement = Statement::new(OBJECT)
            .bind(probed.id.to_string())
            .bind_optional(probed.version.as_deref())
            .bind(&self.source.bucket)
            .bind(&self.source.key);
        let rows = service.read(statement).await?;
        rows.first().map(ObjectRow::read).transpose()
    }

    /// Copies the bytes, makes the row refer to the copy, and removes the old blob. False when the object was changed meanwhile; the
    /// copy is removed then.
    async fn relocate(self, service: DbSession, row: ObjectRow) -> Result<bool, StorageError> {
        let blob = copy_blob(&service, &row).await?;
        let version = blob.version();
        let write = async {
            let is_moved = self.commit(&service, &row, version).await?;
            Ok::<_, StorageError>(is_moved.then_some(()))
        };
        if blob.commit(write).await?.is_none() {
            return Ok(false);
        }
        if let Some(old) = row.blob_version() {
            service.storage().discard_blob(old);
        }
        Ok(true)
    }

    /// Moves the row, after asking once more about this very row. False when it was changed since its bytes were copied.
    async fn commit(
        &self,
        service: &DbSession,
        row: &ObjectRow,
        version: Version,
    ) -> Result<bool, StorageError> {
        let storage = service.storage();
        let mut client = connect(storage).await?;
        let mut transaction = service.transaction(&mut client).await?;
        limit_wait(storage, &transaction).await?;
        let object: [&(dyn ToSql + Sync); 4] = [&row.id, &row.version, &self.source.bucket, &self.source.key];
        let locked = transaction.prepare_cached(LOCK).await.map_err(map_error)?;
        let locked = transaction.query_opt(&locked, &object).await.map_err(map_error)?;
        if locked.is_none() {
            return Ok(false);
        }
        if self.enters_limits() {
            let bucket = find_bucket_within(&transaction, &self.destination.bucket).await?;
            let (mime_type, size_bytes) = (row.mime_type(), row.size_bytes());
            check_limits_of(&bucket, storage, &self.destination, mime_type, size_bytes)?;
        }
        self.ask_within(&mut transaction).await?;
        self.write(&transaction, row, version).await?;
        let end = transaction.commit().await;
        end.map_err(|error| StorageError::from_commit(error, UniqueKey::Other))?;
        Ok(true)
    }

    /// Asks again within the transaction that has locked the object.
    ///
    /// # Errors
    /// Those of [`Self::ask`].
    async fn ask_within(&self, transaction: &mut Transaction<'_>) -> Result<(), StorageError> {
        // Going back to the savepoint undoes the move, and the role and settings of the caller.
        let savepoint = transaction.savepoint("asked").await.map_err(map_error)?;
        self.caller.become_caller(&savepoint).await?;
        let statement = savepoint.prepare_cached(TRY_MOVE).await.map_err(map_error)?;
        let owner = self.owner.uuid();
        let values: [&(dyn ToSql + Sync); 7] = [
            &self.source.bucket,
            &self.source.key,
            &self.destination.bucket,
            &self.destination.key,
            &owner,
            &self.owner.id,
            &self.source_version,
        ];
        let asked = savepoint.query_opt(&statement, &values).await;
        savepoint.rollback().await.map_err(map_error)?;
        match asked.map_err(map_error)? {
            Some(_) => Ok(()),
            None => Err(StorageError::NoSuchKey),
        }
    }

    async fn write(
        &self,
        transaction: &Transaction<'_>,
        row: &ObjectRow,
        version: Version,
    ) -> Result<(), StorageError> {
        let mut metadata = row.metadata.clone().unwrap_or_else(|| json!({}));
        if let Value::Object(fields) = &mut metadata {
            fields.insert("lastModified".to_owned(), json!(format_iso(chrono::Utc::now())));
        }
        let statement = transaction.prepare_cached(MOVE).await.map_err(map_error)?;
        let (version, metadata, owner) = (version.to_string(), metadata.to_string(), self.owner.uuid());
        let values: [&(dyn ToSql + Sync); 7] = [
            &row.id,
            &self.destination.bucket,
            &self.destination.key,
            &version,
            &owner,
            &self.owner.id,
            &metadata,
        ];
        transaction
            .execute(&statement, &values)
            .await
            .map_err(map_error)?;
        Ok(())
    }
}

/// The error for the client when a statement has failed: waiting too long for another writer of the object is a 503.
fn map_error(error: tokio_postgres::Error) -> StorageError {
    match StorageError::from_tokio_postgres(error, UniqueKey::Other) {
        StorageError::ResourceLocked => StorageError::LockTimeout,
        other => other,
    }
}
