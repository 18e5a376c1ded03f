//! `GET /{bucket}?versions` of a bucket with versions: pages of versions, markers and common prefixes, each key's newest first.

use actix_web::HttpResponse;
use chrono::{DateTime, Utc};

use super::context::S3Context;
use super::error::S3Error;
use super::pages::url_encode;
use super::xml_writer::{Xml, xml_response};
use crate::database::object_row::{format_iso, parse_iso};
use crate::database::statement::Statement;
use crate::error::StorageError;

const LIST: &str = include_str!("../sql/s3_list_versions.sql");

/// An entry of a page.
enum Entry {
    Version(Box<VersionEntry>),
    Prefix(String),
}

struct VersionEntry {
    key: String,
    version: String,
    is_latest: bool,
    is_marker: bool,
    etag: String,
    size: u64,
    modified: String,
}

/// The parameters of the list.
struct Request<'c> {
    bucket: &'c str,
    prefix: &'c str,
    delimiter: &'c str,
    key_marker: &'c str,
    version_marker: &'c str,
    max_keys: i64,
    encodes_keys: bool,
}

/// Lists the rows that the caller may see; the policies decide about each.
///
/// # Errors
/// `InvalidArgument`.
pub(super) async fn list_versions(context: &S3Context, bucket: &str) -> Result<HttpResponse, S3Error> {
    let request = Request::read(context, bucket)?;
    let statement = Statement::new(LIST)
        .bind(bucket)
        .bind(request.prefix)
        .bind(request.delimiter)
        // One entry more than the page shows whether another page follows.
        .bind((request.max_keys + 1).to_string())
        .bind(request.key_marker)
        .bind(request.version_marker);
    let rows = context.caller.with_versions().read(statement).await?;
    let entries = rows.iter().map(read_entry);
    let mut entries: Vec<Entry> = entries
        .collect::<Result<_, _>>()
        .map_err(StorageError::internal)?;
    let limit = usize::try_from(request.max_keys).unwrap_or(usize::MAX);
    let is_truncated = entries.len() > limit;
    entries.truncate(limit);
    Ok(xml_response(Xml::document("ListVersionsResult", |xml| {
        request.write(xml, &entries, is_truncated);
    })))
}

impl<'c> Request<'c> {
    fn read(context: &'c S3Context, bucket: &'c str) -> Result<Self, S3Error> {
        let encodes_keys = match context.parameter("encoding-type")? {
            None => false,
            Some("url") => true,
            Some(_) => return Err(S3Error::InvalidArgument("encoding-type")),
        };
        Ok(Self {
            bucket,
            prefix: context.parameter("prefix")?.unwrap_or_default(),
            delimiter: context.parameter("delimiter")?.unwrap_or_default(),
            key_marker: context.parameter("key-marker")?.unwrap_or_default(),
            version_marker: context.parameter("version-id-marker")?.unwrap_or_default(),
            max_keys: context.page_size("max-keys")?,
            encodes_keys,
        })
    }

    fn encode(&self, text: &str) -> String {
        match self.encodes_keys {
            true => url_encode(text),
            false => text.to_owned(),
        }
    }

    fn write(&self, xml: &mut Xml, entries: &[Entry], is_truncated: bool) {
        xml.text("Name", self.bucket);
        xml.text("Prefix", &self.encode(self.prefix));
        if !self.delimiter.is_empty() {
            xml.text("Delimiter", &self.encode(self.delimiter));
        }
        xml.text("MaxKeys", &self.max_keys.to_string());
        if self.encodes_keys {
            xml.text("EncodingType", "url");
        }
        xml.text("KeyMarker", &self.encode(self.key_marker));
        xml.text("VersionIdMarker", self.version_marker);
        xml.text("IsTruncated", if is_truncated { "true" } else { "false" });
        if let Some(last) = entries.last().filter(|_| is_truncated) {
            self.write_next(xml, last);
        }
        for entry in entries {
            match entry {
                Entry::Version(version) => self.write_version(xml, version),
                Entry::Prefix(prefix) => {
                    xml.element("CommonPrefixes", |xml| xml.text("Prefix", &self.encode(prefix)));
                }
            }
        }
    }

    fn write_next(&self, xml: &mut Xml, last: &Entry) {
        match last {
            Entry::Version(version) => {
                xml.text("NextKeyMarker", &self.encode(&version.key));
                xml.text("NextVersionIdMarker", &version.version);
            }
            Entry::Prefix(prefix) => xml.text("NextKeyMarker", &self.encode(prefix)),
        }
    }

    fn write_version(&self, xml: &mut Xml, version: &VersionEntry) {
        let element = if version.is_marker {
            "DeleteMarker"
        } else {
            "Version"
        };
        xml.element(element, |xml| {
            xml.text("Key", &self.encode(&version.key));
            xml.text("VersionId", &version.version);
            xml.text("IsLatest", if version.is_latest { "true" } else { "false" });
            xml.text("LastModified", &version.modified);
            if !version.is_marker {
                xml.text("ETag", &version.etag);
                xml.text("Size", &version.size.to_string());
                xml.text("StorageClass", "STANDARD");
            }
        });
    }
}

fn read_entry(row: &selvedge_postgres::Row) -> Result<Entry, selvedge_postgres::RowError> {
    let key: String = row.try_get("name")?;
    if row.try_get("is_prefix")? {
        return Ok(Entry::Prefix(key));
    }
    let size: Option<String> = row.try_get("size")?;
    let written: Option<String> = row.try_get("last_modified")?;
    let updated: Option<DateTime<Utc>> = row.try_get("updated_at")?;
    let modified = written.as_deref().and_then(parse_iso).or(updated);
    Ok(Entry::Version(Box::new(VersionEntry {
        key,
        version: row.try_get("version")?,
        is_latest: row.try_get("is_latest")?,
        is_marker: row.try_get("is_delete_marker")?,
        etag: row.try_get::<_, Option<String>>("etag")?.unwrap_or_default(),
        size: size.and_then(|size| size.parse().ok()).unwrap_or(0),
        modified: modified.map(format_iso).unwrap_or_default(),
    })))
}
