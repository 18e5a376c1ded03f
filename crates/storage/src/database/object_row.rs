//! A row of `storage.objects`, and the fields of its column `metadata`.

use chrono::{DateTime, SecondsFormat, Utc};
use selvedge_postgres::{NamedColumns, RowError};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::backend::BlobInfo;
use crate::backend::Version;
use crate::error::StorageError;

/// The columns of [`ObjectRow`], of a table or alias `o`.
macro_rules! object_columns {
    () => {
        "o.id, o.bucket_id, o.name, o.owner, o.owner_id, o.version, o.created_at, o.updated_at, \
         o.last_accessed_at, o.metadata, o.user_metadata, o.archived_at, o.is_delete_marker, o.is_versioned"
    };
}
pub(crate) use object_columns;

/// One object. Rows may be written by SQL, so nearly every column may be null.
/// Serialised as the original does it: absent owners and versions become empty texts, other absent values null.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ObjectRow {
    pub(crate) name: String,
    pub(crate) bucket_id: String,
    #[serde(serialize_with = "empty_when_absent")]
    pub(crate) owner: Option<Uuid>,
    #[serde(serialize_with = "empty_when_absent")]
    pub(crate) owner_id: Option<String>,
    #[serde(serialize_with = "empty_when_absent")]
    pub(crate) version: Option<String>,
    pub(crate) id: Uuid,
    #[serde(serialize_with = "timestamp")]
    pub(crate) updated_at: Option<DateTime<Utc>>,
    #[serde(serialize_with = "timestamp")]
    pub(crate) created_at: Option<DateTime<Utc>>,
    #[serde(serialize_with = "timestamp")]
    pub(crate) last_accessed_at: Option<DateTime<Utc>>,
    pub(crate) metadata: Option<Value>,
    pub(crate) user_metadata: Option<Value>,
    /// When it was superseded; `None` for the current object.
    #[serde(serialize_with = "timestamp", skip_serializing_if = "Option::is_none")]
    pub(crate) archived_at: Option<DateTime<Utc>>,
    /// Whether the row only says that the key was deleted.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) is_delete_marker: bool,
    /// Whether it was written while its bucket kept versions.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) is_versioned: bool,
}

/// Compat: clients that know no versions get the fields that they know.
fn is_false(value: &bool) -> bool {
    !value
}

impl ObjectRow {
    /// Reads the columns of [`object_columns`].
    ///
    /// # Errors
    /// `Internal` when the schema has other types.
    pub(crate) fn read(row: &impl NamedColumns) -> Result<Self, StorageError> {
        let read = || -> Result<Self, RowError> {
            Ok(Self {
                id: row.column("id")?,
                bucket_id: row.column::<Option<String>>("bucket_id")?.unwrap_or_default(),
                name: row.column::<Option<String>>("name")?.unwrap_or_default(),
                owner: row.column("owner")?,
                owner_id: row.column("owner_id")?,
                version: row.column("version")?,
                created_at: row.column("created_at")?,
                updated_at: row.column("updated_at")?,
                last_accessed_at: row.column("last_accessed_at")?,
                metadata: row.column("metadata")?,
                user_metadata: row.column("user_metadata")?,
                archived_at: row.column("archived_at")?,
                is_delete_marker: row.column("is_delete_marker")?,
                is_versioned: row.column("is_versioned")?,
            })
        };
        read().map_err(StorageError::internal)
    }

    /// The version of the blob; `None` when the column is null or not a UUID.
    pub(crate) fn blob_version(&self) -> Option<Version> {
        self.version.as_deref().and_then(Version::parse)
    }

    /// `bucket/key`.
    pub(crate) fn full_key(&self) -> String {
        format!("{}/{}", self.bucket_id, self.name)
    }

    /// Content type.
    pub(crate) fn mime_type(&self) -> Option<&str> {
        self.metadata_text("mimetype")
    }

    /// `Cache-Control` that downloads send.
    pub(crate) fn cache_control(&self) -> Option<&str> {
        self.metadata_text("cacheControl")
    }

    /// `X-Robots-Tag` that downloads send.
    pub(crate) fn robots_tag(&self) -> Option<&str> {
        self.metadata_text("xRobotsTag")
    }

    /// `Content-Encoding` of the stored bytes, which downloads send.
    pub(crate) fn content_encoding(&self) -> Option<&str> {
        self.metadata_text("contentEncoding")
            .filter(|text| !text.is_empty())
    }

    /// Entity tag with its quotes.
    pub(crate) fn etag(&self) -> Option<&str> {
        self.metadata_text("eTag")
    }

    /// Size in bytes; in rows written by SQL it may be a text.
    pub(crate) fn size_bytes(&self) -> Option<u64> {
        match self.metadata.as_ref()?.get("size")? {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// HTTP status that is stored with the object and sent for HEAD.
    pub(crate) fn http_status(&self) -> Option<u16> {
        self.metadata
            .as_ref()?
            .get("httpStatusCode")?
            .as_u64()
            .and_then(|status| status.try_into().ok())
    }

    /// When the bytes were written: `lastModified` of the metadata, or else `updated_at` of the row.
    pub(crate) fn last_modified(&self) -> Option<DateTime<Utc>> {
        self.metadata_text("lastModified")
            .and_then(parse_iso)
            .or(self.updated_at)
    }

    fn metadata_text(&self, name: &str) -> Option<&str> {
        self.metadata.as_ref()?.get(name)?.as_str()
    }
}

/// The metadata in the headers or fields of an upload.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    pub(crate) mime_type: String,
    pub(crate) cache_control: String,
    pub(crate) content_encoding: Option<String>,
    pub(crate) robots_tag: Option<String>,
}

impl Declared {
    /// The `metadata` column of an object with these bytes.
    pub(crate) fn metadata(&self, blob: &BlobInfo) -> Value {
        let mut metadata = Map::new();
        metadata.insert("eTag".to_owned(), json!(blob.etag));
        metadata.insert("size".to_owned(), json!(blob.size_bytes));
        metadata.insert("mimetype".to_owned(), json!(self.mime_type));
        metadata.insert("cacheControl".to_owned(), json!(self.cache_control));
        metadata.insert("lastModified".to_owned(), json!(format_iso(blob.modified.into())));
        metadata.insert("contentLength".to_owned(), json!(blob.size_bytes));
        metadata.insert("httpStatusCode".to_owned(), json!(200));
        if let Some(content_encoding) = &self.content_encoding {
            metadata.insert("contentEncoding".to_owned(), json!(content_encoding));
        }
        if let Some(robots_tag) = &self.robots_tag {
            metadata.insert("xRobotsTag".to_owned(), json!(robots_tag));
        }
        Value::Object(metadata)
    }
}

/// Changes the encoding in the `metadata` of a row; the empty text removes it.
pub(crate) fn set_content_encoding(metadata: &mut Value, content_encoding: &str) {
    let Some(fields) = metadata.as_object_mut() else {
        return;
    };
    if content_encoding.is_empty() {
        fields.remove("contentEncoding");
    } else {
        fields.insert("contentEncoding".to_owned(), json!(content_encoding));
    }
}

/// A timestamp in ISO 8601 as all JSON of this service has it: UTC with milliseconds and `Z`.
pub(crate) fn format_iso(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Reads a timestamp in ISO 8601; `None` for other text, which rows written by SQL may have.
pub(crate) fn parse_iso(text: &str) -> Option<DateTime<Utc>> {
    Some(DateTime::parse_from_rfc3339(text).ok()?.to_utc())
}

fn timestamp<S: Serializer>(time: &Option<DateTime<Utc>>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(format_iso).serialize(serializer)
}

/// Compat: typed clients of the original break on null here.
fn empty_when_absent<T: Serialize, S: Serializer>(
    value: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => value.serialize(serializer),
        None => serializer.serialize_str(""),
    }
}
