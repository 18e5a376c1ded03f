//! Listing keys, in both versions of the operation: pages of keys and, with a delimiter, common prefixes.

use actix_web::HttpResponse;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::S3Call;
use super::error::S3Error;
use super::xml::{Xml, answer};
use crate::error::StorageError;
use crate::object_row::iso;
use crate::session::Statement;

const LIST: &str = include_str!("../sql/s3_list_objects.sql");

/// What an encoded key keeps as it is, besides letters and digits.
const KEY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'/');

/// Percent-encodes a key.
pub(super) fn url_encode(text: &str) -> String {
    utf8_percent_encode(text, KEY).to_string()
}

/// A continuation token: base64 of `l:` and the last name.
pub(super) fn encode_token(last: &str) -> String {
    STANDARD.encode(format!("l:{last}"))
}

/// Reads a continuation token.
///
/// # Errors
/// `InvalidArgument`.
pub(super) fn decode_token(token: &str) -> Result<String, S3Error> {
    STANDARD
        .decode(token)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .and_then(|text| text.strip_prefix("l:").map(str::to_owned))
        .ok_or(S3Error::InvalidArgument("continuation-token"))
}

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

/// What both versions are asked.
struct Question<'c> {
    bucket: &'c str,
    prefix: &'c str,
    delimiter: &'c str,
    max_keys: i64,
    encode: bool,
}

impl<'c> Question<'c> {
    async fn read(call: &'c S3Call, bucket: &'c str) -> Result<Self, S3Error> {
        call.bucket(bucket).await?;
        let encode = match call.parameter("encoding-type")? {
            None => false,
            Some("url") => true,
            Some(_) => return Err(S3Error::InvalidArgument("encoding-type")),
        };
        Ok(Self {
            bucket,
            prefix: call.parameter("prefix")?.unwrap_or_default(),
            delimiter: call.parameter("delimiter")?.unwrap_or_default(),
            max_keys: call.page_size("max-keys")?,
            encode,
        })
    }

    async fn page(&self, call: &S3Call, after: &str, token: &str) -> Result<Page, S3Error> {
        let statement = Statement::new(LIST)
            .bind(self.bucket)
            .bind(self.prefix)
            .bind(self.delimiter)
            .bind((self.max_keys + 1).to_string())
            .bind(after)
            .bind(token);
        let rows = call.caller.read(statement).await?;
        let mut entries = Vec::with_capacity(rows.len());
        for row in &rows {
            entries.push(read_entry(row).map_err(StorageError::internal)?);
        }
        let most = usize::try_from(self.max_keys).unwrap_or(usize::MAX);
        let is_truncated = entries.len() > most;
        entries.truncate(most);
        Ok(Page {
            entries,
            is_truncated,
        })
    }

    fn name(&self, text: &str) -> String {
        if self.encode {
            url_encode(text)
        } else {
            text.to_owned()
        }
    }

    /// What both versions answer.
    fn common(&self, xml: &mut Xml, page: &Page) {
        xml.text("Name", self.bucket);
        xml.text("Prefix", &self.name(self.prefix));
        if !self.delimiter.is_empty() {
            xml.text("Delimiter", &self.name(self.delimiter));
        }
        xml.text("MaxKeys", &self.max_keys.to_string());
        if self.encode {
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
                xml.element("Contents", |xml| {
                    xml.text("Key", &self.name(key));
                    xml.text("LastModified", modified);
                    xml.text("ETag", etag);
                    xml.text("Size", &size.to_string());
                    xml.text("StorageClass", "STANDARD");
                });
            }
        }
        for entry in &page.entries {
            if let Entry::Prefix(prefix) = entry {
                xml.element("CommonPrefixes", |xml| xml.text("Prefix", &self.name(prefix)));
            }
        }
    }
}

fn read_entry(row: &selvedge_postgres::Row) -> Result<Entry, selvedge_postgres::RowError> {
    let name: String = row.try_get("name")?;
    if row.try_get("is_prefix")? {
        return Ok(Entry::Prefix(name));
    }
    let size: Option<String> = row.try_get("size")?;
    let modified: Option<chrono::DateTime<chrono::Utc>> = row.try_get("updated_at")?;
    Ok(Entry::Object {
        key: name,
        etag: row.try_get::<_, Option<String>>("etag")?.unwrap_or_default(),
        size: size.and_then(|size| size.parse().ok()).unwrap_or(0),
        modified: modified.map(iso).unwrap_or_default(),
    })
}

/// Version 1: pages by marker.
///
/// # Errors
/// `NoSuchBucket`, `InvalidArgument`.
pub(super) async fn list_objects(call: &S3Call, bucket: &str) -> Result<HttpResponse, S3Error> {
    let question = Question::read(call, bucket).await?;
    let marker = call.parameter("marker")?.unwrap_or_default();
    // A marker that is a common prefix stands for all below it.
    let is_prefix = !question.delimiter.is_empty() && marker.ends_with(question.delimiter);
    let (after, token) = if is_prefix { ("", marker) } else { (marker, "") };
    let page = question.page(call, after, token).await?;
    Ok(answer(Xml::document("ListBucketResult", |xml| {
        xml.text("Marker", &question.name(marker));
        if let Some(last) = page.entries.last()
            && page.is_truncated
            && !question.delimiter.is_empty()
        {
            xml.text("NextMarker", &question.name(last.name()));
        }
        question.common(xml, &page);
    })))
}

/// Version 2: pages by continuation token.
///
/// # Errors
/// `NoSuchBucket`, `InvalidArgument`.
pub(super) async fn list_objects_v2(call: &S3Call, bucket: &str) -> Result<HttpResponse, S3Error> {
    let question = Question::read(call, bucket).await?;
    let start_after = call.parameter("start-after")?;
    let token = call.parameter("continuation-token")?;
    let decoded = token.map(decode_token).transpose()?;
    let page = question
        .page(
            call,
            start_after.unwrap_or_default(),
            decoded.as_deref().unwrap_or_default(),
        )
        .await?;
    Ok(answer(Xml::document("ListBucketResult", |xml| {
        xml.text("KeyCount", &page.entries.len().to_string());
        xml.optional(
            "StartAfter",
            start_after.map(|text| question.name(text)).as_deref(),
        );
        xml.optional("ContinuationToken", token);
        if let Some(last) = page.entries.last()
            && page.is_truncated
        {
            xml.text("NextContinuationToken", &encode_token(last.name()));
        }
        question.common(xml, &page);
    })))
}
