//! What uploads are under way, and what parts one has.

use actix_web::HttpResponse;
use chrono::{DateTime, Utc};

use super::super::S3Call;
use super::super::error::S3Error;
use super::super::list_objects::{decode_token, encode_token, url_encode};
use super::super::xml::{Xml, answer};
use super::Upload;
use crate::error::StorageError;
use crate::object_row::iso;
use crate::route::ObjectPath;
use crate::session::Statement;

const PARTS: &str = "select p.part_number, p.etag, p.size, p.created_at \
     from storage.s3_multipart_uploads_parts p where p.upload_id = $1 and p.part_number > $2::text::integer \
     order by p.part_number limit $3::text::bigint";

const UPLOADS: &str = "select u.key, u.id, u.created_at from storage.list_multipart_uploads_with_delimiter(\
     $1::text, $2::text, $3::text, $4::text::integer, $5::text, $6::text) u";

/// The parts of an upload, page by page.
///
/// # Errors
/// `NoSuchUpload`, `AccessDenied`, `InvalidArgument`.
pub(in super::super) async fn list_parts(
    call: &S3Call,
    target: &ObjectPath,
) -> Result<HttpResponse, S3Error> {
    let upload = Upload::find(call, target).await?;
    let most = call.page_size("max-parts")?;
    let marker = match call.parameter("part-number-marker")? {
        None => 0,
        Some(text) => part_marker(text)?,
    };
    let statement = Statement::new(PARTS)
        .bind(&upload.id)
        .bind(marker.to_string())
        .bind((most + 1).to_string());
    let rows = call.call.service().read(statement).await?;
    let mut parts = Vec::with_capacity(rows.len());
    for row in &rows {
        parts.push(read_part(row).map_err(StorageError::internal)?);
    }
    let is_truncated = parts.len() > usize::try_from(most).unwrap_or(usize::MAX);
    parts.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(answer(Xml::document("ListPartsResult", |xml| {
        xml.text("Bucket", &target.bucket);
        xml.text("Key", &target.key);
        xml.text("UploadId", &upload.id);
        xml.text("PartNumberMarker", &marker.to_string());
        if let Some(last) = parts.last().filter(|_| is_truncated) {
            xml.text("NextPartNumberMarker", &last.number.to_string());
        }
        xml.text("MaxParts", &most.to_string());
        xml.text("IsTruncated", if is_truncated { "true" } else { "false" });
        for part in &parts {
            xml.element("Part", |xml| {
                xml.text("PartNumber", &part.number.to_string());
                xml.text("LastModified", &iso(part.created_at));
                xml.text("ETag", &part.etag);
                xml.text("Size", &part.size_bytes.to_string());
            });
        }
        xml.text("StorageClass", "STANDARD");
    })))
}

/// A number, or, from clients of the original, its token.
fn part_marker(text: &str) -> Result<i32, S3Error> {
    let number = match text.parse() {
        Ok(number) => Some(number),
        Err(_) => decode_token(text).ok().and_then(|text| text.parse().ok()),
    };
    number.ok_or(S3Error::InvalidArgument("part-number-marker"))
}

struct Part {
    number: i32,
    etag: String,
    size_bytes: i64,
    created_at: DateTime<Utc>,
}

fn read_part(row: &selvedge_postgres::Row) -> Result<Part, selvedge_postgres::RowError> {
    Ok(Part {
        number: row.try_get(0)?,
        etag: row.try_get(1)?,
        size_bytes: row.try_get(2)?,
        created_at: row.try_get(3)?,
    })
}

/// The uploads of a bucket that the caller may see, page by page.
///
/// # Errors
/// `NoSuchBucket`, `InvalidArgument`.
pub(in super::super) async fn list_uploads(call: &S3Call, bucket: &str) -> Result<HttpResponse, S3Error> {
    call.bucket(bucket).await?;
    let prefix = call.parameter("prefix")?.unwrap_or_default();
    let delimiter = call.parameter("delimiter")?.unwrap_or_default();
    let most = call.page_size("max-uploads")?;
    let key_marker = call.parameter("key-marker")?;
    let id_marker = call.parameter("upload-id-marker")?;
    let encodes = call.parameter("encoding-type")? == Some("url");
    let name = |text: &str| {
        if encodes {
            url_encode(text)
        } else {
            text.to_owned()
        }
    };
    // Markers are tokens of ours, or keys as S3 itself would take them.
    let key_after = key_marker.map(|text| decode_token(text).unwrap_or_else(|_| text.to_owned()));
    let statement = Statement::new(UPLOADS)
        .bind(bucket)
        .bind(prefix)
        .bind(delimiter)
        .bind((most + 1).to_string())
        .bind(key_after.as_deref().unwrap_or_default())
        .bind(id_marker.unwrap_or_default());
    let rows = call.caller.read(statement).await?;
    let mut entries: Vec<(String, Option<String>, Option<DateTime<Utc>>)> = Vec::with_capacity(rows.len());
    for row in &rows {
        let read = || -> Result<_, selvedge_postgres::RowError> {
            Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
        };
        entries.push(read().map_err(StorageError::internal)?);
    }
    let is_truncated = entries.len() > usize::try_from(most).unwrap_or(usize::MAX);
    entries.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(answer(Xml::document("ListMultipartUploadsResult", |xml| {
        xml.text("Bucket", bucket);
        xml.text("KeyMarker", key_marker.unwrap_or_default());
        xml.text("UploadIdMarker", id_marker.unwrap_or_default());
        if let Some((key, id, _)) = entries.last().filter(|_| is_truncated) {
            xml.text("NextKeyMarker", &encode_token(key));
            xml.text("NextUploadIdMarker", id.as_deref().unwrap_or_default());
        }
        xml.text("Prefix", &name(prefix));
        if !delimiter.is_empty() {
            xml.text("Delimiter", &name(delimiter));
        }
        if encodes {
            xml.text("EncodingType", "url");
        }
        xml.text("MaxUploads", &most.to_string());
        xml.text("IsTruncated", if is_truncated { "true" } else { "false" });
        for (key, id, created_at) in &entries {
            if let Some(id) = id {
                xml.element("Upload", |xml| {
                    xml.text("Key", &name(key));
                    xml.text("UploadId", id);
                    xml.text("StorageClass", "STANDARD");
                    xml.optional("Initiated", created_at.map(iso).as_deref());
                });
            }
        }
        for (key, _, _) in entries.iter().filter(|(_, id, _)| id.is_none()) {
            xml.element("CommonPrefixes", |xml| xml.text("Prefix", &name(key)));
        }
    })))
}
