//! Making the parts an object.

use std::collections::HashMap;

use actix_web::HttpResponse;
use uuid::Uuid;

use super::super::error::S3Error;
use super::super::xml::{Element, Xml, answer};
use super::super::{S3Call, list_objects};
use super::{PARTS_MAX, Upload, discard_parts};
use crate::backend::{BackendError, BlobInfo, Version, joined_etag};
use crate::error::StorageError;
use crate::object::commit::{self, NewObject, PendingBlob};
use crate::route::ObjectPath;
use crate::session::Statement;

const PARTS: &str = "select p.id, p.part_number, p.etag, p.size from storage.s3_multipart_uploads_parts p \
     where p.upload_id = $1 order by p.part_number";

const DELETE: &str = "with upload as (delete from storage.s3_multipart_uploads where id = $1 returning id) \
     select p.id from storage.s3_multipart_uploads_parts p join upload u on p.upload_id = u.id";

/// A part as its row says.
#[derive(Debug, Clone)]
struct Stored {
    version: Version,
    number: i32,
    etag: String,
    size_bytes: u64,
}

/// Where the object is, and its tag.
///
/// # Errors
/// `NoSuchUpload`, `AccessDenied`, `MalformedXml`, `InvalidPart`, `InvalidPartOrder`, `EntityTooLarge`.
pub(in super::super) async fn complete_upload(
    mut call: S3Call,
    target: ObjectPath,
) -> Result<HttpResponse, S3Error> {
    let upload = Upload::find(&call, &target).await?;
    let bucket = call.bucket(&target.bucket).await?;
    let limit = call.size_limit(&bucket);
    let wanted = wanted_parts(&call.take_body()?.document().await?)?;
    let service = call.call.service();
    let rows = service.read(Statement::new(PARTS).bind(&upload.id)).await?;
    let stored = rows.iter().map(read_part).collect::<Result<Vec<_>, _>>()?;
    let parts = choose(stored, &wanted)?;
    if parts.iter().map(|part| part.size_bytes).sum::<u64>() > limit {
        return Err(StorageError::EntityTooLarge.into());
    }

    let blob = PendingBlob::new(call.call.worker.storage(), Version::fresh());
    let versions: Vec<Version> = parts.iter().map(|part| part.version).collect();
    let joined = call
        .call
        .storage()
        .backend()
        .concat(&versions, blob.version())
        .await;
    let stat = joined.map_err(|error| match error {
        // Somebody else completed or gave up the upload.
        BackendError::Missing => S3Error::NoSuchUpload,
        other => StorageError::from(other).into(),
    })?;
    let info = BlobInfo {
        size_bytes: stat.size_bytes,
        etag: joined_etag(parts.iter().map(|part| part.etag.as_str())),
        modified: stat.modified,
    };
    let object = NewObject {
        owner: upload.owner,
        metadata: upload.declared.metadata(&info),
        user_metadata: Some(upload.user_metadata),
        upsert: true,
        target,
        blob,
    };
    let row = commit::commit(service.clone(), object).await?;
    let gone = service.write(Statement::new(DELETE).bind(&upload.id)).await?;
    discard_parts(&call, &gone)?;
    Ok(answer(Xml::document("CompleteMultipartUploadResult", |xml| {
        xml.text(
            "Location",
            &format!("/{}", list_objects::url_encode(&row.full_key())),
        );
        xml.text("Bucket", &row.bucket_id);
        xml.text("Key", &row.name);
        xml.text("ETag", &info.etag);
    })))
}

/// Number and tag of each part of the request; none means all that are stored.
fn wanted_parts(document: &[u8]) -> Result<Vec<(i32, String)>, S3Error> {
    if document.iter().all(u8::is_ascii_whitespace) {
        return Ok(Vec::new());
    }
    let document = Element::parse(document)?;
    let mut parts: Vec<(i32, String)> = Vec::new();
    for part in document.all("Part") {
        let number = part
            .text_of("PartNumber")
            .and_then(|text| text.trim().parse().ok())
            .filter(|number| (1..=PARTS_MAX).contains(number))
            .ok_or(S3Error::InvalidArgument("PartNumber"))?;
        if parts.last().is_some_and(|(last, _)| *last >= number) {
            return Err(S3Error::InvalidPartOrder);
        }
        let etag = part.text_of("ETag").unwrap_or_default();
        parts.push((number, etag.trim().trim_matches('"').to_owned()));
    }
    Ok(parts)
}

fn choose(stored: Vec<Stored>, wanted: &[(i32, String)]) -> Result<Vec<Stored>, S3Error> {
    if wanted.is_empty() {
        return if stored.is_empty() {
            Err(S3Error::InvalidPart)
        } else {
            Ok(stored)
        };
    }
    let stored: HashMap<i32, Stored> = stored.into_iter().map(|part| (part.number, part)).collect();
    wanted
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

fn read_part(row: &selvedge_postgres::Row) -> Result<Stored, S3Error> {
    let read = || -> Result<Stored, selvedge_postgres::RowError> {
        Ok(Stored {
            version: Version::of(row.try_get::<_, Uuid>("id")?),
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

    fn stored(number: i32, etag: &str) -> Stored {
        Stored {
            version: Version::fresh(),
            number,
            etag: etag.to_owned(),
            size_bytes: 1,
        }
    }

    #[test]
    fn store_095_completion_takes_the_parts_it_names() {
        let all = vec![stored(1, "\"a\""), stored(2, "\"b\""), stored(5, "\"c\"")];
        let numbers = |parts: Vec<Stored>| parts.iter().map(|part| part.number).collect::<Vec<_>>();

        assert_eq!(numbers(choose(all.clone(), &[]).expect("all")), [1, 2, 5]);
        let two = [(1, "a".to_owned()), (5, "c".to_owned())];
        assert_eq!(numbers(choose(all.clone(), &two).expect("two")), [1, 5]);
        for bad in [(3, "a"), (1, "b")] {
            let wanted = [(bad.0, bad.1.to_owned())];
            assert!(matches!(choose(all.clone(), &wanted), Err(S3Error::InvalidPart)));
        }
        assert!(matches!(choose(vec![], &[]), Err(S3Error::InvalidPart)));
    }

    #[test]
    fn lists_of_parts_must_ascend() {
        let list = |numbers: &[i32]| {
            let parts: String = numbers
                .iter()
                .map(|n| format!("<Part><PartNumber>{n}</PartNumber><ETag>&quot;x&quot;</ETag></Part>"))
                .collect();
            wanted_parts(format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>").as_bytes())
        };
        assert_eq!(
            list(&[1, 3]).expect("ascending"),
            [(1, "x".to_owned()), (3, "x".to_owned())]
        );
        assert!(matches!(list(&[2, 1]), Err(S3Error::InvalidPartOrder)));
        assert!(matches!(list(&[1, 1]), Err(S3Error::InvalidPartOrder)));
        assert!(list(&[0]).is_err() && list(&[10_001]).is_err());
        assert!(wanted_parts(b" ").expect("none").is_empty());
    }
}
