//! `GET /{bucket}?uploads`: the multipart uploads of a bucket that are neither completed nor aborted.

use actix_web::HttpResponse;
use chrono::{DateTime, Utc};
use selvedge_postgres::{Row, RowError};

use crate::database::object_row::format_iso;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::s3::context::S3Context;
use crate::s3::error::S3Error;
use crate::s3::pages::{decode_token, encode_token, url_encode};
use crate::s3::xml_writer::{Xml, xml_response};

const UPLOADS: &str = include_str!("../../sql/s3_list_uploads.sql");

/// An upload, or a common prefix of several.
struct UploadEntry {
    key: String,
    /// `None` for a common prefix.
    id: Option<String>,
    created_at: Option<DateTime<Utc>>,
}

/// The parameters of a request, as the response repeats them.
struct UploadListRequest<'c> {
    bucket: &'c str,
    prefix: &'c str,
    delimiter: &'c str,
    limit: i64,
    key_marker: Option<&'c str>,
    id_marker: Option<&'c str>,
    encodes_keys: bool,
}

impl<'c> UploadListRequest<'c> {
    fn read(context: &'c S3Context, bucket: &'c str) -> Result<Self, S3Error> {
        Ok(Self {
            bucket,
            prefix: context.parameter("prefix")?.unwrap_or_default(),
            delimiter: context.parameter("delimiter")?.unwrap_or_default(),
            limit: context.page_size("max-uploads")?,
            key_marker: context.parameter("key-marker")?,
            id_marker: context.parameter("upload-id-marker")?,
            encodes_keys: context.parameter("encoding-type")? == Some("url"),
        })
    }

    /// One entry more than the page, so that it is known whether another page follows.
    async fn find_entries(&self, context: &S3Context) -> Result<Vec<UploadEntry>, S3Error> {
        // The original gives out tokens as markers, S3 itself takes plain keys; both are accepted.
        let after_key = self
            .key_marker
            .map(|text| decode_token(text).unwrap_or_else(|_| text.to_owned()));
        let statement = Statement::new(UPLOADS)
            .bind(self.bucket)
            .bind(self.prefix)
            .bind(self.delimiter)
            .bind((self.limit + 1).to_string())
            .bind(after_key.unwrap_or_default())
            .bind(self.id_marker.unwrap_or_default());
        let rows = context.caller.read(statement).await?;
        let read = |row: &Row| -> Result<_, RowError> {
            Ok(UploadEntry {
                key: row.try_get(0)?,
                id: row.try_get(1)?,
                created_at: row.try_get(2)?,
            })
        };
        let entries = rows.iter().map(read).collect::<Result<_, _>>();
        Ok(entries.map_err(StorageError::internal)?)
    }

    fn encode(&self, key: &str) -> String {
        if self.encodes_keys {
            url_encode(key)
        } else {
            key.to_owned()
        }
    }

    fn render(&self, entries: &[UploadEntry], is_truncated: bool) -> String {
        Xml::document("ListMultipartUploadsResult", |xml| {
            xml.text("Bucket", self.bucket);
            xml.text("KeyMarker", self.key_marker.unwrap_or_default());
            xml.text("UploadIdMarker", self.id_marker.unwrap_or_default());
            if let Some(last) = entries.last().filter(|_| is_truncated) {
                xml.text("NextKeyMarker", &encode_token(&last.key));
                xml.text("NextUploadIdMarker", last.id.as_deref().unwrap_or_default());
            }
            xml.text("Prefix", &self.encode(self.prefix));
            if !self.delimiter.is_empty() {
                xml.text("Delimiter", &self.encode(self.delimiter));
            }
            if self.encodes_keys {
                xml.text("EncodingType", "url");
            }
            xml.text("MaxUploads", &self.limit.to_string());
            xml.text("IsTruncated", if is_truncated { "true" } else { "false" });
            for entry in entries {
                if let Some(id) = &entry.id {
                    xml.element("Upload", |xml| {
                        xml.text("Key", &self.encode(&entry.key));
                        xml.text("UploadId", id);
                        xml.text("StorageClass", "STANDARD");
                        xml.optional("Initiated", entry.created_at.map(format_iso).as_deref());
                    });
                }
            }
            for entry in entries.iter().filter(|entry| entry.id.is_none()) {
                xml.element("CommonPrefixes", |xml| {
                    xml.text("Prefix", &self.encode(&entry.key));
                });
            }
        })
    }
}

/// One page of the multipart uploads of a bucket that the caller may see.
///
/// # Errors
/// `NoSuchBucket`, `InvalidArgument`.
pub(in crate::s3) async fn list_uploads(context: &S3Context, bucket: &str) -> Result<HttpResponse, S3Error> {
    context.find_bucket(bucket).await?;
    let request = UploadListRequest::read(context, bucket)?;
    let mut entries = request.find_entries(context).await?;
    let limit = usize::try_from(request.limit).unwrap_or(usize::MAX);
    let is_truncated = entries.len() > limit;
    entries.truncate(limit);
    Ok(xml_response(request.render(&entries, is_truncated)))
}
