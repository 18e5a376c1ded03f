//! Recording a part: the checks before its bytes arrive, and the rows after they are durable.

use deadpool_postgres::Transaction;

use super::multipart_upload::{MAX_PART_NUMBER, MultipartUpload};
use crate::backend::{BlobInfo, Version};
use crate::database::session::DbSession;
use crate::error::{StorageError, UniqueKey};
use crate::object::pending_blob::PendingBlob;
use crate::request::object_path::ObjectPath;
use crate::s3::context::S3Context;
use crate::s3::error::S3Error;
use crate::unfinished::{HELD_BYTES, Share};

/// Locks the upload, so that concurrent parts add up their sizes one after the other. No row after an abort.
const LOCK: &str =
    "select u.in_progress_size, u.holder from storage.s3_multipart_uploads u where u.id = $1 for update";

const DELETE_REPLACED: &str = "delete from storage.s3_multipart_uploads_parts where upload_id = $1 and part_number = $2 \
     returning id, size";

const INSERT_PART: &str = "insert into storage.s3_multipart_uploads_parts \
     (id, upload_id, size, part_number, bucket_id, key, etag, owner_id, version) \
     select $2, u.id, $3, $4, u.bucket_id, u.key, $5, u.owner_id, u.version \
     from storage.s3_multipart_uploads u where u.id = $1";

const SET_SIZE: &str = "update storage.s3_multipart_uploads set in_progress_size = $2 where id = $1";

/// A part whose upload, number and permission are checked, and whose bytes are still to be received.
pub(super) struct NewPart {
    upload: MultipartUpload,
    number: i32,
    /// Largest size in bytes of all parts together, and so of this one. A part of the same number that it replaces
    /// still counts while bytes arrive; the exact sum is checked when the part is recorded.
    pub(super) size_limit: u64,
}

impl NewPart {
    /// Reads `partNumber` and checks the permission to add the part.
    ///
    /// # Errors
    /// `MissingParameter`, `InvalidArgument`, `NoSuchUpload`, `AccessDenied`, `TooManyUnfinished`.
    pub(super) async fn check(context: &S3Context, target: &ObjectPath) -> Result<Self, S3Error> {
        let number = context
            .parameter("partNumber")?
            .ok_or(S3Error::MissingParameter("partNumber"))?;
        let number = number
            .parse()
            .ok()
            .filter(|number| (1..=MAX_PART_NUMBER).contains(number))
            .ok_or(S3Error::InvalidArgument("partNumber"))?;
        let more_bytes = context.declared_bytes().unwrap_or(0);
        let upload = MultipartUpload::find_for_part(context, target, number, more_bytes).await?;
        // Before the bytes arrive; what they are in the end is compared when the part is recorded. Without a share nothing is held.
        let held_bytes = upload
            .held_bytes
            .saturating_sub(upload.replaced_bytes)
            .saturating_add(more_bytes);
        if upload.held_bytes > 0 && !Share::from_config(context.storage().config()).has_room_for(held_bytes) {
            return Err(StorageError::TooManyUnfinished.into());
        }
        let bucket = context.find_bucket(&target.bucket).await?;
        Ok(Self {
            upload,
            number,
            size_limit: context.limits(&bucket, &target.key).max_bytes,
        })
    }

    /// Records the part, and removes an older part with the same number. Runs as a separate task, so that it completes when
    /// the client disconnects.
    ///
    /// # Errors `NoSuchUpload` after an abort, `EntityTooLarge`, `TooManyUnfinished`.
    pub(super) async fn record(
        self,
        service: DbSession,
        (blob, info): (PendingBlob, BlobInfo),
    ) -> Result<BlobInfo, S3Error> {
        let recorded = actix_web::rt::spawn(async move {
            let version = blob.version();
            let write = async { self.write_row(&service, version, &info).await.map(Some) };
            for version in blob.commit(write).await?.into_iter().flatten() {
                service.storage().discard_piece(version);
            }
            Ok(info)
        });
        recorded.await.map_err(StorageError::internal)?
    }

    /// Writes the row of the part; returns the versions of parts that it replaces.
    async fn write_row(
        &self,
        service: &DbSession,
        version: Version,
        info: &BlobInfo,
    ) -> Result<Vec<Version>, S3Error> {
        let storage = service.storage();
        let mut client = storage
            .transactions()
            .get()
            .await
            .map_err(StorageError::from_pool)?;
        let transaction = service.transaction(&mut client).await?;
        let map_error = |error| StorageError::from_tokio_postgres(error, UniqueKey::Other);
        let id = &self.upload.id;
        let row = transaction.query_opt(LOCK, &[id]).await.map_err(map_error)?;
        // The upload was aborted or completed while the bytes arrived. Dropping the blob removes them.
        let row = row.ok_or(S3Error::NoSuchUpload)?;
        let before: i64 = row.try_get(0).map_err(StorageError::internal)?;
        let holder: Option<String> = row.try_get(1).map_err(StorageError::internal)?;
        let (replaced, replaced_bytes) = self.remove_replaced(&transaction).await?;
        let size = i64::try_from(info.size_bytes).map_err(StorageError::internal)?;
        let total = before - replaced_bytes + size;
        if u64::try_from(total).unwrap_or(0) > self.size_limit {
            return Err(StorageError::EntityTooLarge.into());
        }
        if let Some(holder) = holder {
            check_share(service, &transaction, &holder, total - before).await?;
        }
        transaction
            .execute(
                INSERT_PART,
                &[id, &version.uuid(), &size, &self.number, &info.etag],
            )
            .await
            .map_err(map_error)?;
        transaction
            .execute(SET_SIZE, &[id, &total])
            .await
            .map_err(map_error)?;
        let end = transaction.commit().await;
        end.map_err(|error| StorageError::from_commit(error, UniqueKey::Other))?;
        Ok(replaced)
    }

    /// Removes the row of the part that has the number already: uploading it again replaces that part, as in S3. Returns its
    /// version and its size in bytes.
    async fn remove_replaced(&self, transaction: &Transaction<'_>) -> Result<(Vec<Version>, i64), S3Error> {
        let rows = transaction
            .query(DELETE_REPLACED, &[&self.upload.id, &self.number])
            .await
            .map_err(|error| StorageError::from_tokio_postgres(error, UniqueKey::Other))?;
        let (mut versions, mut bytes) = (Vec::new(), 0);
        for row in rows {
            versions.push(Version::from_uuid(
                row.try_get(0).map_err(StorageError::internal)?,
            ));
            bytes += row.try_get::<_, i64>(1).map_err(StorageError::internal)?;
        }
        Ok((versions, bytes))
    }
}

/// Refuses a part with which the uploads of a holder would take more bytes than their share. `added` is by how much the part
/// lets them grow.
async fn check_share(
    service: &DbSession,
    transaction: &Transaction<'_>,
    holder: &str,
    added: i64,
) -> Result<(), StorageError> {
    let row = transaction
        .query_one(HELD_BYTES, &[&holder])
        .await
        .map_err(|error| StorageError::from_tokio_postgres(error, UniqueKey::Other))?;
    let held: i64 = row.try_get("bytes").map_err(StorageError::internal)?;
    let held = u64::try_from(held.saturating_add(added)).unwrap_or(0);
    if Share::from_config(service.storage().config()).has_room_for(held) {
        Ok(())
    } else {
        Err(StorageError::TooManyUnfinished)
    }
}
