//! One part, from a body or from a range of another object.

use actix_web::HttpResponse;
use actix_web::http::header;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::LocalBoxStream;

use super::super::S3Call;
use super::super::copy_object::find_source;
use super::super::error::S3Error;
use super::super::xml::{Xml, answer};
use super::{PARTS_MAX, Upload};
use crate::asset::set;
use crate::backend::{BlobBody, BlobInfo, Version};
use crate::error::{StorageError, Taken};
use crate::object::commit::{PendingBlob, pool_error};
use crate::object::intake;
use crate::object_row::iso;
use crate::route::ObjectPath;
use crate::session::Session;

/// Whoever holds this row decides about the size; an upload that was given up meanwhile is not found.
const LOCK: &str = "select u.in_progress_size from storage.s3_multipart_uploads u where u.id = $1 for update";

const REPLACE: &str = "delete from storage.s3_multipart_uploads_parts where upload_id = $1 and part_number = $2 \
     returning id, size";

const INSERT: &str = "insert into storage.s3_multipart_uploads_parts \
     (id, upload_id, size, part_number, bucket_id, key, etag, owner_id, version) \
     select $2, u.id, $3, $4, u.bucket_id, u.key, $5, u.owner_id, u.version \
     from storage.s3_multipart_uploads u where u.id = $1";

const COUNT: &str = "update storage.s3_multipart_uploads set in_progress_size = $2 where id = $1";

/// 200 with the part's tag.
///
/// # Errors
/// `MissingContentLength`, `InvalidArgument`, `NoSuchUpload`, `AccessDenied`, `EntityTooLarge`, those of the body.
pub(in super::super) async fn upload_part(
    mut call: S3Call,
    target: ObjectPath,
) -> Result<HttpResponse, S3Error> {
    let part = Part::begin(&call, &target).await?;
    let length = call.declared_bytes().ok_or(S3Error::MissingContentLength)?;
    if length > part.room() {
        return Err(StorageError::EntityTooLarge.into());
    }
    let (storage, service) = (call.call.worker.storage().clone(), call.call.service());
    let received = intake::receive(&storage, part.room(), call.take_body()?.stream()).await?;
    let info = part.finish(service, received).await?;
    let mut response = HttpResponse::Ok();
    set(&mut response, header::ETAG, &info.etag);
    Ok(response.finish())
}

/// Tag and date of a part that is a range of another object.
///
/// # Errors
/// As [`upload_part`]; `NoSuchKey`, `InvalidCopyRange`, `PreconditionFailed` of the source.
pub(in super::super) async fn upload_part_copy(
    call: S3Call,
    target: ObjectPath,
) -> Result<HttpResponse, S3Error> {
    let part = Part::begin(&call, &target).await?;
    let source = find_source(&call).await?;
    let version = source.blob_version().ok_or(StorageError::BlobMissing)?;
    let storage = call.call.worker.storage();
    let reader = storage
        .backend()
        .open(version)
        .await
        .map_err(StorageError::from)?;
    let (offset, length) = copy_range(call.header("x-amz-copy-source-range"), reader.size_bytes())?;
    if length > part.room() {
        return Err(StorageError::EntityTooLarge.into());
    }
    let source: LocalBoxStream<'_, Result<Bytes, S3Error>> = match reader.read(offset, length) {
        BlobBody::Whole(bytes) => futures_util::stream::iter([Ok(bytes)]).boxed_local(),
        BlobBody::Stream(stream) => stream
            .map(|bytes| bytes.map_err(|error| StorageError::from(error).into()))
            .boxed_local(),
    };
    let received = intake::receive(storage, part.room(), source).await?;
    let info = part.finish(call.call.service(), received).await?;
    Ok(answer(Xml::document("CopyPartResult", |xml| {
        xml.text("ETag", &info.etag);
        xml.text("LastModified", &iso(info.modified.into()));
    })))
}

/// Offset and length of `bytes=a-b`; all of it when absent.
fn copy_range(header: Option<&str>, size_bytes: u64) -> Result<(u64, u64), S3Error> {
    let Some(header) = header else {
        return Ok((0, size_bytes));
    };
    let number = |text: &str| -> Option<u64> {
        let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if is_number { text.parse().ok() } else { None }
    };
    header
        .strip_prefix("bytes=")
        .and_then(|range| range.split_once('-'))
        .and_then(|(first, last)| Some((number(first)?, number(last)?)))
        .filter(|(first, last)| first <= last && *last < size_bytes)
        .map(|(first, last)| (first, last - first + 1))
        .ok_or(S3Error::InvalidCopyRange)
}

/// A part that is about to come.
struct Part {
    upload: Upload,
    number: i32,
    limit: u64,
}

impl Part {
    async fn begin(call: &S3Call, target: &ObjectPath) -> Result<Self, S3Error> {
        let number = call
            .parameter("partNumber")?
            .ok_or(S3Error::MissingParameter("partNumber"))?;
        let number = number
            .parse()
            .ok()
            .filter(|number| (1..=PARTS_MAX).contains(number))
            .ok_or(S3Error::InvalidArgument("partNumber"))?;
        let upload = Upload::find_for(call, target, call.declared_bytes().unwrap_or(0)).await?;
        let bucket = call.bucket(&target.bucket).await?;
        Ok(Self {
            upload,
            number,
            limit: call.size_limit(&bucket),
        })
    }

    /// Bytes the part may have. A part of the same number that is replaced may still count; then the exact sum decides.
    fn room(&self) -> u64 {
        self.limit
    }

    /// Gives the part its row, even when the client goes away meanwhile.
    async fn finish(
        self,
        service: Session,
        (blob, info): (PendingBlob, BlobInfo),
    ) -> Result<BlobInfo, S3Error> {
        let counted = actix_web::rt::spawn(async move {
            let replaced = self.record(&service, blob.version(), &info).await?;
            blob.keep();
            for version in replaced {
                service.worker().storage().discard(version);
            }
            Ok(info)
        });
        counted.await.map_err(StorageError::internal)?
    }

    async fn record(
        &self,
        service: &Session,
        version: Version,
        info: &BlobInfo,
    ) -> Result<Vec<Version>, S3Error> {
        let storage = service.worker().storage();
        let mut client = storage.transactions().get().await.map_err(pool_error)?;
        let transaction = service.transaction(&mut client).await?;
        let refused = |error| StorageError::from_tokio_postgres(error, Taken::Resource);
        let id = &self.upload.id;
        let row = transaction.query_opt(LOCK, &[id]).await.map_err(refused)?;
        let row = row.ok_or(S3Error::NoSuchUpload)?;
        let mut total: i64 = row.try_get(0).map_err(StorageError::internal)?;
        let mut replaced = Vec::new();
        for old in transaction
            .query(REPLACE, &[id, &self.number])
            .await
            .map_err(refused)?
        {
            replaced.push(Version::of(old.try_get(0).map_err(StorageError::internal)?));
            total -= old.try_get::<_, i64>(1).map_err(StorageError::internal)?;
        }
        let size = i64::try_from(info.size_bytes).map_err(StorageError::internal)?;
        total += size;
        if u64::try_from(total).unwrap_or(0) > self.limit {
            return Err(StorageError::EntityTooLarge.into());
        }
        transaction
            .execute(INSERT, &[id, &version.uuid(), &size, &self.number, &info.etag])
            .await
            .map_err(refused)?;
        transaction.execute(COUNT, &[id, &total]).await.map_err(refused)?;
        transaction.commit().await.map_err(refused)?;
        Ok(replaced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_copies_must_be_whole() {
        assert_eq!(copy_range(None, 5).expect("all"), (0, 5));
        assert_eq!(copy_range(Some("bytes=1-3"), 5).expect("inside"), (1, 3));
        for bad in [
            "bytes=1-",
            "bytes=-2",
            "bytes=3-1",
            "bytes=0-5",
            "0-1",
            "bytes=0-1,2-3",
            "bytes=+1-2",
        ] {
            assert!(copy_range(Some(bad), 5).is_err(), "{bad}");
        }
    }
}
