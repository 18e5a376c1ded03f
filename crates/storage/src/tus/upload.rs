//! The row of an upload under way: what it will become, how far it is, and who may write.

use std::time::Duration;

use chrono::{DateTime, Utc};
use selvedge_postgres::Row;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::address::UploadId;
use super::refusal::Refusal;
use crate::error::StorageError;
use crate::identity::Owner;
use crate::route::ObjectPath;
use crate::session::{Session, Statement};
use crate::version::Version;

macro_rules! upload_columns {
    () => {
        "r.version, r.bucket_id, r.key, r.length, r.received, r.digest, r.upload_metadata, r.content_type, \
         r.cache_control, r.user_metadata, r.finishing, r.expires_at, r.completed_at, r.expires_at <= now() as expired"
    };
}

const INSERT: &str = concat!(
    "insert into storage.resumable_uploads as r (version, bucket_id, key, length, upload_metadata, content_type, \
     cache_control, user_metadata, writer, expires_at) values ($1::uuid, $2, $3, $4::bigint, $5, $6, $7, $8::jsonb, \
     $9::uuid, now() + $10::interval) returning ",
    upload_columns!()
);

const FIND: &str = concat!(
    "select ",
    upload_columns!(),
    " from storage.resumable_uploads r where r.version = $1::uuid and r.bucket_id = $2 and r.key = $3"
);

/// From here on nobody else records progress.
const CLAIM: &str = concat!(
    "update storage.resumable_uploads r set writer = $2::uuid where r.version = $1::uuid returning ",
    upload_columns!()
);

const DECLARE_LENGTH: &str =
    "update storage.resumable_uploads set length = $2::bigint where version = $1::uuid and length is null";

/// A piece counts from here on, unless another writer has come. `$4` is where it begins.
const RECORD: &str = "with recorded as (update storage.resumable_uploads r set received = $4::bigint + $5::bigint, \
     digest = $6, finishing = coalesce($7::jsonb, r.finishing), expires_at = now() + $8::interval \
     where r.version = $1::uuid and r.writer = $2::uuid and r.received = $4::bigint returning r.expires_at), \
     piece as (insert into storage.resumable_pieces (upload, position, version, size) \
     select $1::uuid, $4::bigint, $3::uuid, $5::bigint from recorded) select expires_at from recorded";

/// Several pieces become one, unless another writer has come. `$4` is where the first begins.
const MERGE: &str = "with holder as (select r.version from storage.resumable_uploads r \
     where r.version = $1::uuid and r.writer = $2::uuid for update), \
     merged as (delete from storage.resumable_pieces p using holder \
     where p.upload = holder.version and p.position > $4::bigint returning p.version), \
     first as (update storage.resumable_pieces p set version = $3::uuid, size = $5::bigint from holder \
     where p.upload = holder.version and p.position = $4::bigint returning 1) select 1 from first";

/// Nothing new, but still the writer?
const KEEP: &str = "update storage.resumable_uploads r set expires_at = now() + $3::interval, \
     finishing = coalesce($4::jsonb, r.finishing) \
     where r.version = $1::uuid and r.writer = $2::uuid returning r.expires_at";

const PIECES: &str =
    "select position, version, size from storage.resumable_pieces where upload = $1::uuid order by position";

/// The upload stays for clients that ask once more; its pieces are not needed any longer.
const COMPLETE: &str = "with completed as (update storage.resumable_uploads r set completed_at = now() \
     where r.version = $1::uuid returning r.version) delete from storage.resumable_pieces p using completed \
     where p.upload = completed.version returning p.version";

/// Pieces go by cascade; this sees them as they were before.
const REMOVE: &str = "with removed as (delete from storage.resumable_uploads r \
     where r.version = $1::uuid and ($2 = 'any' or r.expires_at <= now()) returning r.version) \
     select p.version from removed left join storage.resumable_pieces p on p.upload = removed.version";

/// Whether the object was made although nobody could note it.
const COMMITTED: &str =
    "select 1 from storage.objects o where o.bucket_id = $1 and o.name = $2 and o.version = $3";

const EXPIRED: &str = concat!(
    "select ",
    upload_columns!(),
    " from storage.resumable_uploads r where r.expires_at <= now() order by r.expires_at limit 100"
);

/// Whose object it becomes, and whether it may replace one: of the request that brought the last byte.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Finishing {
    pub(super) owner: Option<String>,
    pub(super) upsert: bool,
}

impl Finishing {
    pub(super) fn owner(&self) -> Owner {
        Owner {
            id: self.owner.clone(),
        }
    }

    fn json(&self) -> String {
        json!({ "owner": self.owner, "upsert": self.upsert }).to_string()
    }
}

/// Bytes that arrived in one go: a blob of its own.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// Offset of its first byte.
    pub(super) position: u64,
    pub(super) blob: Version,
    pub(super) size: u64,
}

impl Piece {
    fn read(row: &Row) -> Result<Self, StorageError> {
        let read = || -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
            Ok(Self {
                position: row.try_get::<_, i64>("position")?.try_into()?,
                blob: Version::of(row.try_get("version")?),
                size: row.try_get::<_, i64>("size")?.try_into()?,
            })
        };
        read().map_err(StorageError::internal)
    }
}

/// A piece whose blob is complete, about to be recorded.
pub(super) struct NewPiece<'a> {
    pub(super) upload: Version,
    pub(super) writer: Uuid,
    pub(super) blob: Version,
    pub(super) position: u64,
    pub(super) size: u64,
    /// State of the MD5 behind it.
    pub(super) digest: &'a str,
    pub(super) finishing: Option<&'a Finishing>,
}

/// What a new upload declares.
pub(super) struct NewUpload<'a> {
    pub(super) id: &'a UploadId,
    pub(super) length: Option<u64>,
    pub(super) upload_metadata: String,
    pub(super) content_type: Option<String>,
    pub(super) cache_control: String,
    pub(super) user_metadata: Option<Value>,
    pub(super) writer: Uuid,
}

/// An upload under way, or just completed.
#[derive(Debug, Clone)]
pub(super) struct Upload {
    pub(super) version: Version,
    pub(super) target: ObjectPath,
    /// Declared size in bytes, unless it is deferred.
    pub(super) length: Option<u64>,
    /// Bytes that are safe.
    pub(super) received: u64,
    /// State of the MD5 over them.
    pub(super) digest: String,
    pub(super) upload_metadata: String,
    pub(super) content_type: Option<String>,
    pub(super) cache_control: String,
    pub(super) user_metadata: Option<Value>,
    pub(super) finishing: Option<Finishing>,
    pub(super) expires_at: DateTime<Utc>,
    pub(super) completed: bool,
    expired: bool,
}

impl Upload {
    fn read(row: &Row) -> Result<Self, StorageError> {
        let read = || -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
            let finishing: Option<Value> = row.try_get("finishing")?;
            Ok(Self {
                version: Version::of(row.try_get::<_, Uuid>("version")?),
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
                finishing: finishing.map(serde_json::from_value).transpose()?,
                expires_at: row.try_get("expires_at")?,
                completed: row.try_get::<_, Option<DateTime<Utc>>>("completed_at")?.is_some(),
                expired: row.try_get("expired")?,
            })
        };
        read().map_err(StorageError::internal)
    }

    /// Whether all bytes are there.
    pub(super) fn is_full(&self) -> bool {
        self.length == Some(self.received)
    }

    /// Whether it has run out of time, or away.
    pub(super) fn check_alive(&self) -> Result<(), Refusal> {
        if self.expired { Err(Refusal::Gone) } else { Ok(()) }
    }
}

/// The table, past all policies: only this service knows it.
#[derive(Clone)]
pub(super) struct Uploads {
    pub(super) service: Session,
    pub(super) lifetime: Duration,
}

impl Uploads {
    fn interval(&self) -> String {
        format!("{} milliseconds", self.lifetime.as_millis())
    }

    pub(super) async fn create(&self, new: NewUpload<'_>) -> Result<Upload, StorageError> {
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
            .bind(self.interval());
        let rows = self.service.write(statement).await?;
        Upload::read(rows.first().ok_or_else(no_row)?)
    }

    pub(super) async fn find(&self, id: &UploadId) -> Result<Option<Upload>, StorageError> {
        let statement = Statement::new(FIND)
            .bind(id.version.to_string())
            .bind(&id.target.bucket)
            .bind(&id.target.key);
        let rows = self.service.read(statement).await?;
        rows.first().map(Upload::read).transpose()
    }

    /// Makes `writer` the only one who may record progress.
    pub(super) async fn claim(&self, version: Version, writer: Uuid) -> Result<Upload, Refusal> {
        let statement = Statement::new(CLAIM)
            .bind(version.to_string())
            .bind(writer.to_string());
        let rows = self.service.write(statement).await?;
        Ok(Upload::read(rows.first().ok_or(Refusal::NotFound)?)?)
    }

    pub(super) async fn declare_length(&self, version: Version, length: u64) -> Result<(), StorageError> {
        let statement = Statement::new(DECLARE_LENGTH)
            .bind(version.to_string())
            .bind(length.to_string());
        self.service.write(statement).await?;
        Ok(())
    }

    /// Makes a piece count, unless another writer has come; answers when the upload will end now.
    pub(super) async fn record(&self, piece: &NewPiece<'_>) -> Result<DateTime<Utc>, Refusal> {
        let statement = Statement::new(RECORD)
            .bind(piece.upload.to_string())
            .bind(piece.writer.to_string())
            .bind(piece.blob.to_string())
            .bind(piece.position.to_string())
            .bind(piece.size.to_string())
            .bind(piece.digest)
            .bind_optional(piece.finishing.map(Finishing::json))
            .bind(self.interval());
        expiry(&self.service.write(statement).await?)
    }

    /// The same when nothing new has come.
    pub(super) async fn keep(
        &self,
        version: Version,
        writer: Uuid,
        finishing: Option<&Finishing>,
    ) -> Result<DateTime<Utc>, Refusal> {
        let statement = Statement::new(KEEP)
            .bind(version.to_string())
            .bind(writer.to_string())
            .bind(self.interval())
            .bind_optional(finishing.map(Finishing::json));
        expiry(&self.service.write(statement).await?)
    }

    /// All pieces, in order.
    pub(super) async fn pieces(&self, version: Version) -> Result<Vec<Piece>, StorageError> {
        let rows = self
            .service
            .read(Statement::new(PIECES).bind(version.to_string()))
            .await?;
        rows.iter().map(Piece::read).collect()
    }

    /// Puts `blob` in the place of the pieces from `first` to the end; whether it did.
    pub(super) async fn merge(
        &self,
        version: Version,
        writer: Uuid,
        first: &Piece,
        blob: Version,
        size: u64,
    ) -> Result<bool, StorageError> {
        let statement = Statement::new(MERGE)
            .bind(version.to_string())
            .bind(writer.to_string())
            .bind(blob.to_string())
            .bind(first.position.to_string())
            .bind(size.to_string());
        Ok(!self.service.write(statement).await?.is_empty())
    }

    /// Notes that the object exists; its pieces are discarded.
    pub(super) async fn complete(&self, version: Version) -> Result<(), StorageError> {
        let rows = self
            .service
            .write(Statement::new(COMPLETE).bind(version.to_string()))
            .await?;
        self.discard(&rows)
    }

    /// Forgets an upload and what was received of it.
    pub(super) async fn remove(&self, upload: &Upload) -> Result<(), StorageError> {
        self.remove_if(upload, "any").await
    }

    /// The same, unless it has been given more time meanwhile.
    pub(super) async fn remove_expired(&self, upload: &Upload) -> Result<(), StorageError> {
        self.remove_if(upload, "expired").await
    }

    async fn remove_if(&self, upload: &Upload, condition: &str) -> Result<(), StorageError> {
        let statement = Statement::new(REMOVE)
            .bind(upload.version.to_string())
            .bind(condition);
        let rows = self.service.write(statement).await?;
        if !rows.is_empty() && !upload.completed && !self.is_committed(upload).await? {
            // Joined, perhaps, but no object.
            self.service.worker().storage().discard(upload.version);
        }
        self.discard(&rows)
    }

    fn discard(&self, pieces: &[Row]) -> Result<(), StorageError> {
        for row in pieces {
            let version: Option<Uuid> = row.try_get("version").map_err(StorageError::internal)?;
            if let Some(version) = version {
                self.service.worker().storage().discard(Version::of(version));
            }
        }
        Ok(())
    }

    /// Whether an object has the bytes of this upload already.
    pub(super) async fn is_committed(&self, upload: &Upload) -> Result<bool, StorageError> {
        let statement = Statement::new(COMMITTED)
            .bind(&upload.target.bucket)
            .bind(&upload.target.key)
            .bind(upload.version.to_string());
        Ok(!self.service.read(statement).await?.is_empty())
    }

    /// Some uploads that have run out of time.
    pub(super) async fn expired(&self) -> Result<Vec<Upload>, StorageError> {
        let rows = self.service.read(Statement::new(EXPIRED)).await?;
        rows.iter().map(Upload::read).collect()
    }
}

fn expiry(rows: &[Row]) -> Result<DateTime<Utc>, Refusal> {
    let row = rows.first().ok_or(Refusal::TakenOver)?;
    Ok(row.try_get("expires_at").map_err(StorageError::internal)?)
}

fn no_row() -> StorageError {
    StorageError::internal("the upload was not inserted")
}
