//! `GET /{bucket}`, versions 1 and 2, and `GET /{bucket}?versions`: pages of keys and, with a delimiter, of common
//! prefixes.

use actix_web::HttpResponse;
use chrono::{DateTime, Utc};

use super::context::S3Context;
use super::error::S3Error;
use super::list_versions;
use super::pages::{decode_token, encode_token, url_encode};
use super::xml_writer::{Xml, xml_response};
use crate::database::object_row::{format_iso, parse_iso};
use crate::database::statement::Statement;
use crate::error::StorageError;

const LIST: &str = include_str!("../sql/s3_list_objects.sql");

/// An entry of a page.
enum Entry {
    Object {
        key: String,
        etag: String,
        size: u64,
        modified: String,
    },
    Prefix(String),
}

impl Entry {
    fn name(&self) -> &str {
        match self {
            Self::Object { key, .. } | Self::Prefix(key) => key,
        }
    }
}

struct Page {
    entries: Vec<Entry>,
    is_truncated: bool,
}

/// The id of the only version of an object in a bucket without versions.
const UNVERSIONED: &str = "null";
/// The element of an object in a list of versions; in the other lists it is `Contents`.
const VERSION: &str = "Version";

/// The parameters that all lists take.
struct ListRequest<'c> {
    /// The name of the element that describes an object.
    element: &'static str,
    bucket: &'c str,
    prefix: &'c str,
    delimiter: &'c str,
    max_keys: i64,
    encodes_keys: bool,
}

impl<'c> ListRequest<'c> {
    async fn read(context: &'c S3Context, bucket: &'c str, element: &'static str) -> Result<Self, S3Error> {
        context.find_bucket(bucket).await?;
        let encodes_keys = match context.parameter("encoding-type")? {
            None => false,
            Some("url") => true,
            Some(_) => return Err(S3Error::InvalidArgument("encoding-type")),
        };
        Ok(Self {
            element,
            bucket,
            prefix: context.parameter("prefix")?.unwrap_or_default(),
            delimiter: context.parameter("delimiter")?.unwrap_or_default(),
            max_keys: context.page_size("max-keys")?,
            encodes_keys,
        })
    }

    /// Returns the page after a key. A key that is a common prefix means all keys below it, which the SQL skips only for its
    /// parameter `token`.
    async fn find_page_after(&self, context: &S3Context, key: &str) -> Result<Page, S3Error> {
        if !self.delimiter.is_empty() && key.ends_with(self.delimiter) {
            self.find_page(context, "", key).await
        } else {
            self.find_page(context, key, "").await
        }
    }

    async fn find_page(&self, context: &S3Context, after: &str, token: &str) -> Result<Page, S3Error> {
        let statement = Statement::new(LIST)
            .bind(self.bucket)
            .bind(self.prefix)
            .bind(self.delimiter)
            // One entry more than the page shows whether another page follows.
            .bind((self.max_keys + 1).to_string())
            .bind(after)
            .bind(token);
        let rows = context.caller.read(statement).await?;
        let mut entries = Vec::with_capacity(rows.len());
        for row in &rows {
            entries.push(read_entry(row).map_err(StorageError::internal)?);
        }
        let limit = usize::try_from(self.max_keys).unwrap_or(usize::MAX);
        let is_truncated = entries.len() > limit;
        entries.truncate(limit);
        Ok(Page {
            entries,
            is_truncated,
        })
    }

    fn encode(&self, text: &str) -> String {
        if self.encodes_keys {
            url_encode(text)
        } else {
            text.to_owned()
        }
    }

    /// Writes the elements that all lists have.
    fn write_common(&self, xml: &mut Xml, page: &Page) {
        xml.text("Name", self.bucket);
        xml.text("Prefix", &self.encode(self.prefix));
        if !self.delimiter.is_empty() {
            xml.text("Delimiter", &self.encode(self.delimiter));
        }
        xml.text("MaxKeys", &self.max_keys.to_string());
        if self.encodes_keys {
            xml.text("EncodingType", "url");
        }
        xml.text("IsTruncated", if page.is_truncated { "true" } else { "false" });
        for entry in &page.entries {
            if let Entry::Object {
                key,
                etag,
                size,
                modified,
            } = entry
            {
                xml.element(self.element, |xml| {
                    xml.text("Key", &self.encode(key));
                    if self.element == VERSION {
                        xml.text("VersionId", UNVERSIONED);
                        xml.text("IsLatest", "true");
                    }
                    xml.text("LastModified", modified);
                    xml.text("ETag", etag);
                    xml.text("Size", &size.to_string());
                    xml.text("StorageClass", "STANDARD");
                });
            }
        }
        for entry in &page.entries {
            if let Entry::Prefix(prefix) = entry {
                xml.element("CommonPrefixes", |xml| xml.text("Prefix", &self.encode(prefix)));
            }
        }
    }
}

/// Reads a row. An object's date is that of its metadata, as in a HEAD of the object; clients that synchronise folders
/// compare the two.
fn read_entry(row: &selvedge_postgres::Row) -> Result<Entry, selvedge_postgres::RowError> {
    let name: String = row.try_get("name")?;
    if row.try_get("is_prefix")? {
        return Ok(Entry::Prefix(name));
    }
    let size: Option<String> = row.try_get("size")?;
    let written: Option<String> = row.try_get("last_modified")?;
    let updated: Option<DateTime<Utc>> = row.try_get("updated_at")?;
    let modified = written.as_deref().and_then(parse_iso).or(updated);
    Ok(Entry::Object {
        key: name,
        etag: row.try_get::<_, Option<String>>("etag")?.unwrap_or_default(),
        size: size.and_then(|size| size.parse().ok()).unwrap_or(0),
        modified: modified.map(format_iso).unwrap_or_default(),
    })
}

/// Version 1: a page begins after the key `marker`.
///
/// # Errors
/// `NoSuchBucket`, `InvalidArgument`.
pub(super) async fn list_objects(context: &S3Context, bucket: &str) -> Result<HttpResponse, S3Error> {
    let request = ListRequest::read(context, bucket, "Contents").await?;
    let marker = context.parameter("marker")?.unwrap_or_default();
    let page = request.find_page_after(context, marker).await?;
    Ok(xml_response(Xml::document("ListBucketResult", |xml| {
        xml.text("Marker", &request.encode(marker));
        if let Some(last) = page.entries.last()
            && page.is_truncated
            && !request.delimiter.is_empty()
        {
            xml.text("NextMarker", &request.encode(last.name()));
        }
        request.write_common(xml, &page);
    })))
}

/// Version 2: a page begins after the entry of `continuation-token`, or after the key `start-after`.
///
/// # Errors
/// `NoSuchBucket`, `InvalidArgument`.
pub(super) async fn list_objects_v2(context: &S3Context, bucket: &str) -> Result<HttpResponse, S3Error> {
    let request = ListRequest::read(context, bucket, "Contents").await?;
    let start_after = context.parameter("start-after")?;
    let token = context.parameter("continuation-token")?;
    let decoded = token.map(decode_token).transpose()?;
    let page = request
        .find_page(
            context,
            start_after.unwrap_or_default(),
            decoded.as_deref().unwrap_or_default(),
        )
        .await?;
    Ok(xml_response(Xml::document("ListBucketResult", |xml| {
        xml.text("KeyCount", &page.entries.len().to_string());
        xml.optional(
            "StartAfter",
            start_after.map(|text| request.encode(text)).as_deref(),
        );
        xml.optional("ContinuationToken", token);
        if let Some(last) = page.entries.last()
            && page.is_truncated
        {
            xml.text("NextContinuationToken", &encode_token(last.name()));
        }
        request.write_common(xml, &page);
    })))
}

/// `ListObjectVersions`: in a bucket without versions every object as its one version. Clients that read that versioning is suspended list versions
/// before they empty a bucket, such as `rclone purge`.
///
/// # Errors
/// `NoSuchBucket`, `InvalidArgument`.
pub(super) async fn list_versions(context: &S3Context, bucket: &str) -> Result<HttpResponse, S3Error> {
    if context.find_bucket(bucket).await?.has_versions {
        return list_versions::list_versions(context, bucket).await;
    }
    let request = ListRequest::read(context, bucket, VERSION).await?;
    let key_marker = context.parameter("key-marker")?.unwrap_or_default();
    let page = request.find_page_after(context, key_marker).await?;
    Ok(xml_response(Xml::document("ListVersionsResult", |xml| {
        xml.text("KeyMarker", &request.encode(key_marker));
        xml.optional(
            "VersionIdMarker",
            context.parameter("version-id-marker").ok().flatten(),
        );
        if let Some(last) = page.entries.last()
            && page.is_truncated
        {
            xml.text("NextKeyMarker", &request.encode(last.name()));
            xml.text("NextVersionIdMarker", UNVERSIONED);
        }
        request.write_common(xml, &page);
    })))
}
