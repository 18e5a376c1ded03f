//! `GET /{bucket}/{key}?uploadId=`: the parts of a multipart upload.

use actix_web::HttpResponse;
use chrono::{DateTime, Utc};

use super::multipart_upload::MultipartUpload;
use crate::database::object_row::format_iso;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::request::object_path::ObjectPath;
use crate::s3::context::S3Context;
use crate::s3::error::S3Error;
use crate::s3::pages::decode_token;
use crate::s3::xml_writer::{Xml, xml_response};

const PARTS: &str = "select p.part_number, p.etag, p.size, p.created_at \
     from storage.s3_multipart_uploads_parts p where p.upload_id = $1 and p.part_number > $2::text::integer \
     order by p.part_number limit $3::text::bigint";

/// One page of the parts of an upload.
///
/// # Errors
/// `NoSuchUpload`, `AccessDenied`, `InvalidArgument`.
pub(in crate::s3) async fn list_parts(
    context: &S3Context,
    target: &ObjectPath,
) -> Result<HttpResponse, S3Error> {
    let upload = MultipartUpload::find(context, target).await?;
    let limit = context.page_size("max-parts")?;
    let marker = match context.parameter("part-number-marker")? {
        None => 0,
        Some(text) => parse_part_marker(text)?,
    };
    let statement = Statement::new(PARTS)
        .bind(&upload.id)
        .bind(marker.to_string())
        .bind((limit + 1).to_string());
    let rows = context.service().read(statement).await?;
    let mut parts = Vec::with_capacity(rows.len());
    for row in &rows {
        parts.push(read_part(row).map_err(StorageError::internal)?);
    }
    let is_truncated = parts.len() > usize::try_from(limit).unwrap_or(usize::MAX);
    parts.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(xml_response(Xml::document("ListPartsResult", |xml| {
        xml.text("Bucket", &target.bucket);
        xml.text("Key", &target.key);
        xml.text("UploadId", &upload.id);
        xml.text("PartNumberMarker", &marker.to_string());
        if let Some(last) = parts.last().filter(|_| is_truncated) {
            xml.text("NextPartNumberMarker", &last.number.to_string());
        }
        xml.text("MaxParts", &limit.to_string());
        xml.text("IsTruncated", if is_truncated { "true" } else { "false" });
        for part in &parts {
            xml.element("Part", |xml| {
                xml.text("PartNumber", &part.number.to_string());
                xml.text("LastModified", &format_iso(part.created_at));
                xml.text("ETag", &part.etag);
                xml.text("Size", &part.size_bytes.to_string());
            });
        }
        xml.text("StorageClass", "STANDARD");
    })))
}

/// A part number. Compat: also the base64 token that the original gives out.
fn parse_part_marker(text: &str) -> Result<i32, S3Error> {
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
