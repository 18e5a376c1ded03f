//! `POST /object/copy`: creates a second object with the same bytes.

use actix_web::{HttpResponse, web};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::authorize_write::{WriteIntent, authorize_write};
use super::commit::{CommitChecks, NewObject, commit_object};
use super::lookup::find_visible_object;
use super::pending_blob::copy_blob;
use super::relocation::{Relocation, check_destination_limits};
use super::upload_headers::{read_user_metadata, wants_upsert};
use crate::context::RequestContext;
use crate::database::object_row::{ObjectRow, format_iso, set_content_encoding};
use crate::error::StorageError;
use crate::identity::Owner;
use crate::request::json_body::Fields;
use crate::response::json::json_response;
use crate::validation::content_encoding::parse_content_encoding;
use crate::validation::content_type::ContentType;
use crate::validation::names::{check_bucket_name, check_key};

/// The response: the new row, preceded by the two fields that older clients read.
#[derive(Serialize)]
struct CopyResponse {
    #[serde(rename = "Key")]
    key: String,
    #[serde(rename = "Id")]
    id: Uuid,
    #[serde(flatten)]
    row: ObjectRow,
}

/// `{"Key","Id", …row}`. Type, cache-control, encoding and user metadata are copied unless `copyMetadata` is false.
/// The copy must fulfil the limits of its bucket, unlike in the original. Source: STORE-042 to STORE-044.
///
/// # Errors
/// `InvalidBucketName` of the source; `InvalidKey` of the destination; `NoSuchKey` of the source; `KeyAlreadyExists`; `AccessDenied`; `InvalidMimeType`;
/// `EntityTooLarge`.
pub(crate) async fn copy_object(
    context: &RequestContext,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    let relocation = Relocation::read(context, payload).await?;
    let changes = MetadataChanges::read(context, &relocation.body)?;
    let destination = relocation.destination;
    // Whether there is such a bucket is told after the policies were asked, as in the original.
    check_bucket_name(&relocation.source.bucket)?;
    check_key(&destination.key)?;
    let version = relocation.source_version.as_deref();
    let row = find_visible_object(&caller, &relocation.source, version).await?;
    let (metadata, user_metadata) = changes.apply(&row);
    let owner = Owner::from_identity(caller.identity());
    let upsert = wants_upsert(context);
    let intent = WriteIntent {
        target: &destination,
        owner: &owner,
        mime_type: metadata.get("mimetype").and_then(Value::as_str),
        content_length: row.size_bytes(),
        user_metadata: user_metadata.as_ref(),
        upsert,
    };
    authorize_write(&caller, &intent).await?;
    // After the permission check, so that only callers who may write to the bucket learn its limits.
    check_destination_limits(context, &destination, intent.mime_type, row.size_bytes()).await?;

    let service = context.service();
    let blob = copy_blob(&service, &row).await?;
    let checks = CommitChecks::of(&caller, &intent);
    let object = NewObject {
        checks: Some(checks),
        target: destination,
        owner,
        metadata,
        user_metadata,
        upsert,
        blob,
    };
    let row = commit_object(service, object).await?;
    Ok(json_response(&CopyResponse {
        key: row.full_key(),
        id: row.id,
        row,
    }))
}

/// How the metadata of the copy differs from that of its source.
enum MetadataChanges {
    None,
    Replace {
        mime_type: Option<String>,
        cache_control: Option<String>,
        /// The empty text removes the source's.
        content_encoding: Option<String>,
        user_metadata: Option<Value>,
    },
}

impl MetadataChanges {
    /// Reads `copyMetadata` and `metadata` of the body.
    ///
    /// # Errors
    /// `Schema`, `InvalidMimeType`, `InvalidHeaderCharacter`, `InvalidParameter`.
    fn read(context: &RequestContext, body: &Fields) -> Result<Self, StorageError> {
        // The types are checked also where the metadata is copied and the fields are not used, as in the original.
        let fields = body.object("metadata")?;
        let text = |name| fields.as_ref().map_or(Ok(None), |fields| fields.text(name));
        let cache_control = text("cacheControl")?;
        let mime_type = text("mimetype")?;
        let content_encoding = text("contentEncoding")?;
        if body.boolean("copyMetadata")?.unwrap_or(true) {
            return Ok(Self::None);
        }
        let is_malformed = |text: &&String| ContentType::parse(text).is_none();
        if let Some(bad) = mime_type.as_ref().filter(is_malformed) {
            return Err(StorageError::InvalidMimeType(bad.clone()));
        }
        if cache_control
            .as_ref()
            .is_some_and(|text| text.chars().any(char::is_control))
        {
            return Err(StorageError::InvalidHeaderCharacter("cache-control"));
        }
        // A blank one removes the source's.
        let content_encoding = content_encoding
            .map(|text| parse_content_encoding(Some(&text)).map(Option::unwrap_or_default))
            .transpose()?;
        Ok(Self::Replace {
            mime_type,
            cache_control,
            content_encoding,
            user_metadata: read_user_metadata(context),
        })
    }

    /// The copy's `metadata` and `user_metadata`.
    fn apply(&self, source: &ObjectRow) -> (Value, Option<Value>) {
        let mut metadata = source
            .metadata
            .clone()
            .filter(Value::is_object)
            .unwrap_or_else(|| json!({}));
        metadata["lastModified"] = json!(format_iso(chrono::Utc::now()));
        match self {
            Self::None => (metadata, source.user_metadata.clone()),
            Self::Replace {
                mime_type,
                cache_control,
                content_encoding,
                user_metadata,
            } => {
                if let Some(mime_type) = mime_type {
                    metadata["mimetype"] = json!(mime_type);
                }
                if let Some(cache_control) = cache_control {
                    metadata["cacheControl"] = json!(cache_control);
                }
                if let Some(content_encoding) = content_encoding {
                    set_content_encoding(&mut metadata, content_encoding);
                }
                (metadata, user_metadata.clone())
            }
        }
    }
}
