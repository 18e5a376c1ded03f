//! `POST /{bucket}/{key}?uploadId=`: makes an object of the parts. Replaces an existing one, unless `If-None-Match: *` forbids it.

use std::collections::HashMap;

use actix_web::HttpResponse;
use uuid::Uuid;

use super::multipart_upload::{MAX_PART_NUMBER, MultipartUpload, describe_write, discard_parts};
use crate::backend::{BackendError, BlobInfo, Version, joined_etag};
use crate::database::object_row::ObjectRow;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::identity::Owner;
use crate::object::authorize_write::WriteIntent;
use crate::object::commit::{CommitChecks, NewObject, commit_object};
use crate::object::lookup::find_visible_object;
use crate::object::pending_blob::PendingBlob;
use crate::request::object_path::ObjectPath;
use crate::s3::context::S3Context;
use crate::s3::error::S3Error;
use crate::s3::pages::url_encode;
use crate::s3::part_layout::store_part_sizes;
use crate::s3::versions::set_version_header;
use crate::s3::write_condition::{creates_only, map_conflict};
use crate::s3::xml_reader::Element;
use crate::s3::xml_writer::{MEDIA_TYPE, Xml};

const PARTS: &str = "select p.id, p.part_number, p.etag, p.size from storage.s3_multipart_uploads_parts p \
     where p.upload_id = $1 order by p.part_number";

/// The rows of parts are deleted by cascade. The outer SELECT still sees them, because all parts of a statement share
/// one snapshot.
const DELETE: &str = "with upload as (delete from storage.s3_multipart_uploads where id = $1 returning id) \
     select p.id from storage.s3_multipart_uploads_parts p join upload u on p.upload_id = u.id";

/// A part as its row describes it.
#[derive(Debug, Clone)]
struct StoredPart {
    version: Version,
    number: i32,
    etag: String,
    size_bytes: u64,
}

/// Location and entity tag of the object.
///
/// # Errors
/// `NoSuchUpload`, `AccessDenied`, `MalformedXml`, `InvalidPart`, `InvalidPartOrder`, `EntityTooLarge`; `PreconditionFailed`, which
/// leaves the upload as it was; `NotImplemented` for another condition.
pub(in crate::s3) async fn complete_upload(
    mut context: S3Context,
    target: ObjectPath,
) -> Result<HttpResponse, S3Error> {
    let creates_only = creates_only(&context)?;
    let upload = MultipartUpload::find(&context, &target).await?;
    if creates_only {
        check_absence(&context, &target).await?;
    }
    let bucket = context.find_bucket(&target.bucket).await?;
    let limits = context.limits(&bucket, &target.key);
    let requested = parse_requested_parts(&context.take_body()?.document().await?)?;
    let service = context.service();
    let rows = service.read(Statement::new(PARTS).bind(&upload.id)).await?;
    let stored = rows.iter().map(read_part).collect::<Result<Vec<_>, _>>()?;
    let parts = choose_parts(stored, &requested)?;
    // Checked again, because the limit of the bucket may have been lowered since the parts were uploaded.
    let size_bytes = parts.iter().map(|part| part.size_bytes).sum();
    limits.check_size(Some(size_bytes))?;

    let (blob, info) = join_parts(&context, &parts).await?;
    let mut metadata = upload.declared.metadata(&info);
    store_part_sizes(&mut metadata, parts.iter().map(|part| part.size_bytes));
    let caller = Owner::from_identity(context.caller.identity());
    let (declared, user_metadata) = (&upload.declared, &upload.user_metadata);
    let intent = WriteIntent {
        upsert: !creates_only,
        ..describe_write(&caller, &target, declared, user_metadata, size_bytes)
    };
    let checks = CommitChecks::of(&context.caller, &intent);
    let object = NewObject {
        checks: Some(checks),
        owner: upload.owner,
        metadata,
        user_metadata: Some(upload.user_metadata),
        upsert: !creates_only,
        target,
        blob,
    };
    // The object is committed before the upload is deleted: after a crash in between the client can complete the upload
    // again.
    let row = commit_object(service.clone(), object).await;
    let row = row.map_err(|error| map_conflict(error, creates_only))?;
    let gone = service.write(Statement::new(DELETE).bind(&upload.id)).await?;
    discard_parts(&context, &gone)?;
    Ok(render_result(&row, &info))
}

/// Finds an object in the place early: to join large parts for nothing takes long.
///
/// # Errors
/// `PreconditionFailed` when there is one.
async fn check_absence(context: &S3Context, target: &ObjectPath) -> Result<(), S3Error> {
    match find_visible_object(&context.service(), target, None).await {
        Err(StorageError::NoSuchKey) => Ok(()),
        found => Err(found.map_or_else(S3Error::from, |_| S3Error::PreconditionFailed)),
    }
}

fn render_result(row: &ObjectRow, info: &BlobInfo) -> HttpResponse {
    let document = Xml::document("CompleteMultipartUploadResult", |xml| {
        xml.text("Location", &format!("/{}", url_encode(&row.full_key())));
        xml.text("Bucket", &row.bucket_id);
        xml.text("Key", &row.name);
        xml.text("ETag", &info.etag);
    });
    let mut response = HttpResponse::Ok();
    set_version_header(&mut response, row);
    response.content_type(MEDIA_TYPE).body(document)
}

/// Makes one blob of the parts.
///
/// # Errors
/// `NoSuchUpload` when another request completed or aborted the upload meanwhile, and with it removed its parts.
async fn join_parts(context: &S3Context, parts: &[StoredPart]) -> Result<(PendingBlob, BlobInfo), S3Error> {
    let blob = PendingBlob::new(context.storage(), Version::fresh());
    let versions: Vec<Version> = parts.iter().map(|part| part.version).collect();
    let storage = context.storage();
    let joined = storage
        .backend()
        .concat(&versions, blob.version(), storage.disk())
        .await;
    let stat = joined.map_err(|error| match error {
        BackendError::Missing => S3Error::NoSuchUpload,
        other => StorageError::from(other).into(),
    })?;
    let info = BlobInfo {
        size_bytes: stat.size_bytes,
        etag: joined_etag(parts.iter().map(|part| part.etag.as_str())),
        modified: stat.modified,
    };
    Ok((blob, info))
}

/// Parses number and tag of each part in the request.
///
/// # Errors `MalformedXml`, also for a body without parts: S3 refuses it, and using all stored parts instead could complete
/// an upload whose client assumes that it failed. `InvalidArgument`, `InvalidPartOrder`.
fn parse_requested_parts(document: &[u8]) -> Result<Vec<(i32, String)>, S3Error> {
    let document = Element::parse(document)?;
    let mut parts: Vec<(i32, String)> = Vec::new();
    for part in document.children_named("Part") {
        let number = part
            .text_of("PartNumber")
            .and_then(|text| text.trim().parse().ok())
            .filter(|number| (1..=MAX_PART_NUMBER).contains(number))
            .ok_or(S3Error::InvalidArgument("PartNumber"))?;
        if parts.last().is_some_and(|(last, _)| *last >= number) {
            return Err(S3Error::InvalidPartOrder);
        }
        let etag = part.text_of("ETag").unwrap_or_default();
        parts.push((number, etag.trim().trim_matches('"').to_owned()));
    }
    if parts.is_empty() {
        return Err(S3Error::MalformedXml(
            "CompleteMultipartUpload must have at least one Part".to_owned(),
        ));
    }
    Ok(parts)
}

/// The stored parts that the request names, in its order.
///
/// # Errors
/// `InvalidPart` when one was not uploaded or has another tag.
fn choose_parts(stored: Vec<StoredPart>, requested: &[(i32, String)]) -> Result<Vec<StoredPart>, S3Error> {
    let stored: HashMap<i32, StoredPart> = stored.into_iter().map(|part| (part.number, part)).collect();
    requested
        .iter()
        .map(|(number, etag)| {
            stored
                .get(number)
                .filter(|part| part.etag.trim_matches('"') == etag)
                .cloned()
                .ok_or(S3Error::InvalidPart)
        })
        .collect()
}

fn read_part(row: &selvedge_postgres::Row) -> Result<StoredPart, S3Error> {
    let read = || -> Result<StoredPart, selvedge_postgres::RowError> {
        Ok(StoredPart {
            version: Version::from_uuid(row.try_get::<_, Uuid>("id")?),
            number: row.try_get("part_number")?,
            etag: row.try_get("etag")?,
            size_bytes: row.try_get::<_, i64>("size")?.try_into().unwrap_or(0),
        })
    };
    Ok(read().map_err(StorageError::internal)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(number: i32, etag: &str) -> StoredPart {
        StoredPart {
            version: Version::fresh(),
            number,
            etag: etag.to_owned(),
            size_bytes: 1,
        }
    }

    #[test]
    fn store_095_completion_uses_only_the_parts_that_it_names() {
        let all = vec![stored(1, "\"a\""), stored(2, "\"b\""), stored(5, "\"c\"")];
        let numbers = |parts: Vec<StoredPart>| parts.iter().map(|part| part.number).collect::<Vec<_>>();

        let two = [(1, "a".to_owned()), (5, "c".to_owned())];
        assert_eq!(numbers(choose_parts(all.clone(), &two).expect("two")), [1, 5]);
        for bad in [(3, "a"), (1, "b")] {
            let requested = [(bad.0, bad.1.to_owned())];
            assert!(matches!(
                choose_parts(all.clone(), &requested),
                Err(S3Error::InvalidPart)
            ));
        }
    }

    #[test]
    fn store_095_part_numbers_of_a_completion_must_ascend() {
        let list = |numbers: &[i32]| {
            let parts: String = numbers
                .iter()
                .map(|n| format!("<Part><PartNumber>{n}</PartNumber><ETag>&quot;x&quot;</ETag></Part>"))
                .collect();
            parse_requested_parts(
                format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>").as_bytes(),
            )
        };
        assert_eq!(
            list(&[1, 3]).expect("ascending"),
            [(1, "x".to_owned()), (3, "x".to_owned())]
        );
        assert!(matches!(list(&[2, 1]), Err(S3Error::InvalidPartOrder)));
        assert!(matches!(list(&[1, 1]), Err(S3Error::InvalidPartOrder)));
        assert!(list(&[0]).is_err() && list(&[10_001]).is_err());
        assert!(parse_requested_parts(b" ").is_err() && list(&[]).is_err());
    }
}
