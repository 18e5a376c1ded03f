//! `POST /object/copy`: a second object with the same bytes.

use actix_web::{HttpResponse, web};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::commit::{self, NewObject, copy_blob};
use super::find;
use super::move_object::read_paths;
use super::probe::{self, Intent};
use super::upload::{metadata_header, wants_upsert};
use crate::answer::json_answer;
use crate::error::StorageError;
use crate::identity::Owner;
use crate::json_body::Fields;
use crate::limits::is_content_type;
use crate::names::{check_bucket_name, check_key};
use crate::object_row::{ObjectRow, iso};
use crate::serve::Call;

/// The new row, with the two fields that clients read in front.
#[derive(Serialize)]
struct Copied {
    #[serde(rename = "Key")]
    key: String,
    #[serde(rename = "Id")]
    id: Uuid,
    #[serde(flatten)]
    row: ObjectRow,
}

/// `{"Key","Id", …row}`. Type, cache-control and user metadata come along unless `copyMetadata` is false.
/// Compat: the limits of the destination bucket are not applied. Source: STORE-042 to STORE-044.
///
/// # Errors
/// `InvalidKey` of the destination; `NoSuchKey` of the source; `KeyAlreadyExists`; `AccessDenied`.
pub(crate) async fn copy_object(call: &Call, payload: web::Payload) -> Result<HttpResponse, StorageError> {
    let caller = call.caller()?;
    let (source, destination, body) = read_paths(call, payload).await?;
    let changes = Changes::read(call, &body)?;
    check_bucket_name(&destination.bucket)?;
    check_key(&destination.key)?;
    let row = find::get_visible(&caller, &source).await?;
    let (metadata, user_metadata) = changes.apply(&row);
    let owner = Owner::of(caller.identity());
    let upsert = wants_upsert(call);
    let intent = Intent {
        target: &destination,
        owner: &owner,
        mime_type: metadata.get("mimetype").and_then(Value::as_str),
        content_length: row.size_bytes(),
        user_metadata: user_metadata.as_ref(),
        upsert,
    };
    probe::may_write(&caller, &intent).await?;

    let service = call.service();
    let blob = copy_blob(&service, &row).await?;
    let object = NewObject {
        target: destination,
        owner,
        metadata,
        user_metadata,
        upsert,
        blob,
    };
    let row = commit::commit(service, object).await?;
    Ok(json_answer(&Copied {
        key: row.full_key(),
        id: row.id,
        row,
    }))
}

/// What the copy shall say differently from its source.
enum Changes {
    Nothing,
    These {
        mime_type: Option<String>,
        cache_control: Option<String>,
        user_metadata: Option<Value>,
    },
}

impl Changes {
    fn read(call: &Call, body: &Fields) -> Result<Self, StorageError> {
        if body.boolean("copyMetadata")?.unwrap_or(true) {
            return Ok(Self::Nothing);
        }
        let fields = body.object("metadata")?;
        let text = |name| fields.as_ref().map_or(Ok(None), |fields| fields.text(name));
        let mime_type = text("mimetype")?;
        let cache_control = text("cacheControl")?;
        if let Some(bad) = mime_type.as_ref().filter(|mime_type| !is_content_type(mime_type)) {
            return Err(StorageError::InvalidMimeType(bad.clone()));
        }
        if cache_control
            .as_ref()
            .is_some_and(|text| text.chars().any(char::is_control))
        {
            return Err(StorageError::InvalidHeaderCharacter("cache-control"));
        }
        Ok(Self::These {
            mime_type,
            cache_control,
            user_metadata: metadata_header(call),
        })
    }

    /// The copy's `metadata` and `user_metadata`.
    fn apply(&self, source: &ObjectRow) -> (Value, Option<Value>) {
        let mut metadata = source
            .metadata
            .clone()
            .filter(Value::is_object)
            .unwrap_or_else(|| json!({}));
        metadata["lastModified"] = json!(iso(chrono::Utc::now()));
        match self {
            Self::Nothing => (metadata, source.user_metadata.clone()),
            Self::These {
                mime_type,
                cache_control,
                user_metadata,
            } => {
                if let Some(mime_type) = mime_type {
                    metadata["mimetype"] = json!(mime_type);
                }
                if let Some(cache_control) = cache_control {
                    metadata["cacheControl"] = json!(cache_control);
                }
                (metadata, user_metadata.clone())
            }
        }
    }
}
