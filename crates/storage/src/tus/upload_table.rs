//! The table `storage.resumable_uploads` and its pieces: the object that an upload will become, how many bytes are
//! durable, and which request may record more. Every statement runs as the service; callers have no rights on these
//! tables.

use std::time::Duration;

use chrono::{DateTime, Utc};
use deadpool_postgres::Transaction;
use selvedge_postgres::Row;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::error::TusError;
use super::upload_id::UploadId;
use crate::backend::Version;
use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::{StorageError, UniqueKey};
use crate::identity::Owner;
use crate::request::object_path::ObjectPath;
use crate::unfinished::{Holder, Share, within_share};

/// The columns of [`ResumableUpload`], of a table or alias `r`.
macro_rules! upload_columns {
    () => {
        "r.version, r.bucket_id, r.key, r.length, r.received, r.digest, r.upload_metadata, r.content_type, \
         r.cache_control, r.user_metadata, r.finishing, r.expires_at, r.completed_at, r.expires_at <= now() as expired"
    };
}

const INSERT: &str = concat!(
    "insert into storage.resumable_uploads as r (version, bucket_id, key, length, upload_metadata, content_type, \
     cache_control, user_metadata, writer, expires_at, holder) select $1::uuid, $2, $3, $4::bigint, $5, $6, $7, $8::jsonb, \
     $9::uuid, now() + $10::interval, $11::text where ",
    within_share!("$11", "$12", "$13"),
    " returning ",
    upload_columns!()
);

const SELECT_UPLOAD: &str = concat!(
    "select ",
    upload_columns!(),
    " from storage.resumable_uploads r where r.version = $1::uuid and r.bucket_id = $2 and r.key = $3"
);

/// Makes `$2` the writer: from then on the previous writer can record nothing.
const CLAIM: &str = concat!(
    "update storage.resumable_uploads r set writer = $2::uuid where r.version = $1::uuid returning ",
    upload_columns!()
);

const DECLARE_LENGTH: &str =
    "update storage.resumable_uploads set length = $2::bigint where version = $1::uuid and length is null";

/// Counts a piece, unless another request has become the writer, or the holder's share of `$9` bytes has no room for it. `$4` is
/// the offset of its first byte. One statement, so that `received` always is the sum of the pieces.
const RECORD_PIECE: &str = "with share as (select coalesce($9::bigint - sum(held.bytes) < $5::bigint, false) as is_full \
     from storage.unfinished_uploads as held where held.holder = \
     (select r.holder from storage.resumable_uploads r where r.version = $1::uuid)), \
     recorded as (update storage.resumable_uploads r set received = $4::bigint + $5::bigint, \
     digest = $6, finishing = coalesce($7::jsonb, r.finishing), expires_at = now() + $8::interval \
     where r.version = $1::uuid and r.writer = $2::uuid and r.received = $4::bigint \
     and not (select share.is_full from share) returning r.expires_at), \
     piece as (insert into storage.resumable_pieces (upload, position, version, size) \
     select $1::uuid, $4::bigint, $3::uuid, $5::bigint from recorded) \
     select (select recorded.expires_at from recorded) as expires_at, share.is_full from share";

/// Replaces the pieces from offset `$4` on by one, unless another request has become the writer. `for update` keeps
/// others from becoming the writer until this is committed.
const REPLACE_PIECES: &str = "with holder as (select r.version from storage.resumable_uploads r \
     where r.version = $1::uuid and r.writer = $2::uuid for update), \
     merged as (delete from storage.resumable_pieces p using holder \
     where p.upload = holder.version and p.position > $4::bigint returning p.version), \
     first as (update storage.resumable_pieces p set version = $3::uuid, size = $5::bigint from holder \
     where p.upload = holder.version and p.position = $4::bigint returning 1) select 1 from first";

/// Extends the lifetime without new bytes; no row when another request has become the writer.
const EXTEND_LIFETIME: &str = "update storage.resumable_uploads r set expires_at = now() + $3::interval, \
     finishing = coalesce($4::jsonb, r.finishing) \
     where r.version = $1::uuid and r.writer = $2::uuid returning r.expires_at";

const SELECT_PIECES: &str =
    "select position, version, size from storage.resumable_pieces where upload = $1::uuid order by position";

/// Marks a full upload as completed and removes its pieces; no row when it is completed already or gone. The row of the upload
/// stays until it expires, for clients that ask again.
const COMPLETE: &str = "with completed as (update storage.resumable_uploads r set completed_at = now() \
     where r.version = $1 and r.completed_at is null and r.received = r.length returning r.version), \
     pieces as (delete from storage.resumable_pieces p using completed where p.upload = completed.version \
     returning p.version) select pieces.version from completed left join pieces on true";

/// Removes an upload; its pieces go by cascade. The outer SELECT sees them still, because all parts of a statement
/// share one snapshot.
const DELETE_UPLOAD: &str = "with removed as (delete from storage.resumable_uploads r \
     where r.version = $1::uuid and case $2 when 'unfinished' then r.completed_at is null else r.expires_at <= now() end \
     returning r.version) \
     select p.version from removed left join storage.resumable_pieces p on p.upload = removed.version";

const EXPIRED: &str = concat!(
    "select ",
    upload_columns!(),
    " from storage.resumable_uploads r where r.expires_at <= now() order by r.expires_at limit 100"
);

/// The limit of the list of expired uploads.
pub(super) const MOST_EXPIRED: usize = 100;

/// With which owner and upsert the object is committed: those of the request that brought the last byte. Stored,
/// because after a crash another request commits it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CommitAs {
    pub(super) owner: Option<String>,
    pub(super) upsert: bool,
}

impl CommitAs {
    pub(super) fn owner(&self) -> Owner {
        Owner {
            id: self.owner.clone(),
        }
    }

    fn json(&self) -> String {
        json!({ "owner": self.owner, "upsert": self.upsert }).to_string()
    }
}

/// A part of an upload's bytes, stored as a separate blob.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// Offset of the piece's first byte in the upload.
    pub(super) position: u64,
    pub(super) blob: Version,
    pub(super) size: u64,
}

impl Piece {
    fn read(row: &Row) -> Result<Self, StorageError> {
        let read = || -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
            Ok(Self {
                position: row.try_get::<_, i64>("position")?.try_into()?,
                blob: Version::from_uuid(row.try_get("version")?),
                size: row.try_get::<_, i64>("size")?.try_into()?,
            })
        };
        read().map_err(StorageError::internal)
    }
}

/// A piece whose blob is durable and that is about to be recorded.
pub(super) struct NewPiece<'a> {
    pub(super) upload: Version,
    pub(super) writer: Uuid,
    pub(super) blob: Version,
    pub(super) position: u64,
    pub(super) size: u64,
    /// State of the MD5 over the upload up to the end of this piece.
    pub(super) digest: &'a str,
    pub(super) commit_as: Option<&'a CommitAs>,
}

/// The values of a new row.
pub(super) struct NewUpload<'a> {
    pub(super) id: &'a UploadId,
    pub(super) length: Option<u64>,
    pub(super) upload_metadata: String,
    pub(super) content_type: Option<String>,
    pub(super) cache_control: String,
    pub(super) user_metadata: Option<Value>,
    pub(super) writer: Uuid,
    pub(super) holder: Holder,
}

/// A row of the table: an unfinished upload, or one that was completed recently.
#[derive(Debug, Clone)]
pub(super) struct ResumableUpload {
    pub(super) version: Version,
    pub(super) target: ObjectPath,
    /// Declared size in bytes; `None` while it is deferred.
    pub(super) length: Option<u64>,
    /// Bytes that are durable and recorded: the offset that clients are told.
    pub(super) received: u64,
    /// State of the MD5 over the received bytes.
    pub(super) digest: String,
    pub(super) upload_metadata: String,
    pub(super) content_type: Option<String>,
    pub(super) cache_control: String,
    pub(super) user_metadata: Option<Value>,
    pub(super) commit_as: Option<CommitAs>,
    pub(super) expires_at: DateTime<Utc>,
    pub(super) completed: bool,
    expired: bool,
}

impl ResumableUpload {
    fn read(row: &Row) -> Result<Self, StorageError> {
        let read = || -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
            let commit_as: Option<Value> = row.try_get("finishing")?;
            Ok(Self {
                version: Version::from_uuid(row.try_get::<_, Uuid>("version")?),
                target: ObjectPath {
                    bucket: row.try_get("bucket_id")?,
                    key: row.try_get("key")?,
                },
                length: row
                    .try_get::<_, Option<i64>>("length")?
                    .map(u64::try_from)
                    .transpose()?,
                received: row.try_get::<_, i64>("received")?.try_into()?,
                digest: row.try_get("digest")?,
                upload_metadata: row.try_get("upload_metadata")?,
                content_type: row.try_get("content_type")?,
                cache_control: row.try_get("cache_control")?,
                user_metadata: row.try_get("user_metadata")?,
                commit_as: commit_as.map(serde_json::from_value).transpose()?,
                expires_at: row.try_get("expires_at")?,
                completed: row.try_get::<_, Option<DateTime<Utc>>>("completed_at")?.is_some(),
                expired: row.try_get("expired")?,
            })
        };
        read().map_err(StorageError::internal)
    }

    /// Whether all declared bytes are received.
    pub(super) fn is_full(&self) -> bool {
        self.length == Some(self.received)
    }

    /// Refuses an upload that was not finished in time.
    ///
    /// # Errors
    /// `Gone`.
    pub(super) fn check_not_expired(&self) -> Result<(), TusError> {
        if self.expired { Err(TusError::Gone) } else { Ok(()) }
    }
}

/// Access to the table as the service.
#[derive(Clone)]
pub(super) struct UploadTable {
    pub(super) service: DbSession,
    pub(super) lifetime: Duration,
    pub(super) share: Share,
}

impl UploadTable {
    /// The lifetime as PostgreSQL reads an interval.
    fn lifetime_interval(&self) -> String {
        format!("{} milliseconds", self.lifetime.as_millis())
    }

    /// Access as the service of `session`.
    pub(super) fn new(service: DbSession) -> Self {
        let config = service.storage().config();
        Self {
            lifetime: config.resumable_upload_lifetime,
            share: Share::from_config(config),
            service,
        }
    }

    /// Inserts a row.
    ///
    /// # Errors
    /// `TooManyUnfinished`.
    pub(super) async fn create(&self, new: NewUpload<'_>) -> Result<ResumableUpload, StorageError> {
        let statement = Statement::new(INSERT)
            .bind(new.id.version.to_string())
            .bind(&new.id.target.bucket)
            .bind(&new.id.target.key)
            .bind_optional(new.length.map(|length| length.to_string()))
            .bind(new.upload_metadata)
            .bind_optional(new.content_type)
            .bind(new.cache_control)
            .bind_optional(new.user_metadata.map(|value| value.to_string()))
            .bind(new.writer.to_string())
            .bind(self.lifetime_interval())
            .bind_optional(new.holder.0)
            .bind_optional(self.share.uploads.map(|most| most.to_string()))
            .bind_optional(self.share.bytes.map(|most| most.to_string()));
        let rows = self.service.write(statement).await?;
        ResumableUpload::read(rows.first().ok_or(StorageError::TooManyUnfinished)?)
    }

    /// The upload of an id, also when it has expired.
    pub(super) async fn find(&self, id: &UploadId) -> Result<Option<ResumableUpload>, StorageError> {
        let statement = Statement::new(SELECT_UPLOAD)
            .bind(id.version.to_string())
            .bind(&id.target.bucket)
            .bind(&id.target.key);
        let rows = self.service.read(statement).await?;
        rows.first().map(ResumableUpload::read).transpose()
    }

    /// Makes `writer` the only request that may record bytes.
    ///
    /// # Errors
    /// `NotFound`.
    pub(super) async fn claim(&self, version: Version, writer: Uuid) -> Result<ResumableUpload, TusError> {
        let statement = Statement::new(CLAIM)
            .bind(version.to_string())
            .bind(writer.to_string());
        let rows = self.service.write(statement).await?;
        Ok(ResumableUpload::read(rows.first().ok_or(TusError::NotFound)?)?)
    }

    /// Sets the length of an upload that deferred it.
    pub(super) async fn declare_length(&self, version: Version, length: u64) -> Result<(), StorageError> {
        let statement = Statement::new(DECLARE_LENGTH)
            .bind(version.to_string())
            .bind(length.to_string());
        self.service.write(statement).await?;
        Ok(())
    }

    /// Counts a piece; returns when the upload expires now.
    ///
    /// # Errors
    /// `TakenOver` when another request has become the writer, `TooManyUnfinished`.
    pub(super) async fn record_piece(&self, piece: &NewPiece<'_>) -> Result<DateTime<Utc>, TusError> {
        let statement = Statement::new(RECORD_PIECE)
            .bind(piece.upload.to_string())
            .bind(piece.writer.to_string())
            .bind(piece.blob.to_string())
            .bind(piece.position.to_string())
            .bind(piece.size.to_string())
            .bind(piece.digest)
            .bind_optional(piece.commit_as.map(CommitAs::json))
            .bind(self.lifetime_interval())
            .bind_optional(self.share.bytes.map(|most| most.to_string()));
        let rows = self.service.write(statement).await?;
        let row = rows.first().ok_or(TusError::TakenOver)?;
        let read = || -> Result<(Option<DateTime<Utc>>, bool), selvedge_postgres::RowError> {
            Ok((row.try_get("expires_at")?, row.try_get("is_full")?))
        };
        match read().map_err(StorageError::internal)? {
            (Some(expires_at), _) => Ok(expires_at),
            (None, true) => Err(StorageError::TooManyUnfinished.into()),
            (None, false) => Err(TusError::TakenOver),
        }
    }

    /// Extends the lifetime of an upload without new bytes; returns when it expires now.
    ///
    /// # Errors
    /// As [`Self::record_piece`].
    pub(super) async fn extend(
        &self,
        version: Version,
        writer: Uuid,
        commit_as: Option<&CommitAs>,
    ) -> Result<DateTime<Utc>, TusError> {
        let statement = Statement::new(EXTEND_LIFETIME)
            .bind(version.to_string())
            .bind(writer.to_string())
            .bind(self.lifetime_interval())
            .bind_optional(commit_as.map(CommitAs::json));
        read_expiry(&self.service.write(statement).await?)
    }

    /// All pieces of an upload, in the order of their offsets.
    pub(super) async fn pieces(&self, version: Version) -> Result<Vec<Piece>, StorageError> {
        let rows = self
            .service
            .read(Statement::new(SELECT_PIECES).bind(version.to_string()))
            .await?;
        rows.iter().map(Piece::read).collect()
    }

    /// Replaces the pieces from `first` to the end by `blob`. False when another request has become the writer.
    pub(super) async fn replace_pieces(
        &self,
        version: Version,
        writer: Uuid,
        first: &Piece,
        blob: Version,
        size: u64,
    ) -> Result<bool, StorageError> {
        let statement = Statement::new(REPLACE_PIECES)
            .bind(version.to_string())
            .bind(writer.to_string())
            .bind(blob.to_string())
            .bind(first.position.to_string())
            .bind(size.to_string());
        Ok(!self.service.write(statement).await?.is_empty())
    }

    /// Removes an upload and its bytes; false when it is completed or gone, because another request was faster.
    pub(super) async fn remove_unfinished(&self, upload: &ResumableUpload) -> Result<bool, StorageError> {
        self.remove_if(upload, "unfinished").await
    }

    /// Removes an upload and its bytes, unless its lifetime was extended meanwhile.
    pub(super) async fn remove_expired(&self, upload: &ResumableUpload) -> Result<bool, StorageError> {
        self.remove_if(upload, "expired").await
    }

    async fn remove_if(&self, upload: &ResumableUpload, condition: &str) -> Result<bool, StorageError> {
        let statement = Statement::new(DELETE_UPLOAD)
            .bind(upload.version.to_string())
            .bind(condition);
        let rows = self.service.write(statement).await?;
        for row in &rows {
            let version: Option<Uuid> = row.try_get("version").map_err(StorageError::internal)?;
            if let Some(version) = version {
                self.service.storage().discard_piece(Version::from_uuid(version));
            }
        }
        Ok(!rows.is_empty())
    }

    /// Lists up to [`MOST_EXPIRED`] expired uploads.
    pub(super) async fn expired(&self) -> Result<Vec<ResumableUpload>, StorageError> {
        let rows = self.service.read(Statement::new(EXPIRED)).await?;
        rows.iter().map(ResumableUpload::read).collect()
    }
}

/// Marks an upload as completed in the transaction that makes its object. Returns the blobs of its pieces, which nothing refers
/// to once the transaction is committed; `None` when another request has completed or removed the upload.
pub(super) async fn complete_upload(
    transaction: &Transaction<'_>,
    version: Version,
) -> Result<Option<Vec<Version>>, StorageError> {
    let rows = transaction
        .query(COMPLETE, &[&version.uuid()])
        .await
        .map_err(|error| StorageError::from_tokio_postgres(error, UniqueKey::Object))?;
    if rows.is_empty() {
        return Ok(None);
    }
    let mut pieces = Vec::new();
    for row in &rows {
        let piece: Option<Uuid> = row.try_get(0).map_err(StorageError::internal)?;
        pieces.extend(piece.map(Version::from_uuid));
    }
    Ok(Some(pieces))
}

/// `expires_at` of the row that a statement of the writer returned; `TakenOver` when it returned none.
fn read_expiry(rows: &[Row]) -> Result<DateTime<Utc>, TusError> {
    let row = rows.first().ok_or(TusError::TakenOver)?;
    Ok(row.try_get("expires_at").map_err(StorageError::internal)?)
}
