//! Asking the policies, before bytes arrive, whether an object may be written: the real statement, rolled back.

use serde_json::{Value, json};

use crate::error::{StorageError, Taken};
use crate::identity::Owner;
use crate::route::ObjectPath;
use crate::session::{Session, Statement};

const INSERT: &str = "insert into storage.objects (bucket_id, name, owner, owner_id, version, metadata, user_metadata) \
     values ($1, $2, $3::uuid, $4, '1', $5::jsonb, $6::jsonb)";

/// `returning` makes PostgreSQL apply the SELECT policies too, as the contract's upsert does.
const UPSERT: &str = "insert into storage.objects as o \
     (bucket_id, name, owner, owner_id, version, metadata, user_metadata) \
     values ($1, $2, $3::uuid, $4, '1', $5::jsonb, $6::jsonb) \
     on conflict (bucket_id, name) do update set version = excluded.version, metadata = excluded.metadata, \
     user_metadata = excluded.user_metadata, owner = excluded.owner, owner_id = excluded.owner_id \
     returning o.id";

/// What a policy can see of a write that has not happened yet.
pub(crate) struct Intent<'a> {
    pub(crate) target: &'a ObjectPath,
    pub(crate) owner: &'a Owner,
    /// Declared type.
    pub(crate) mime_type: Option<&'a str>,
    /// Declared size in bytes; a form's includes its overhead.
    pub(crate) content_length: Option<u64>,
    pub(crate) user_metadata: Option<&'a Value>,
    /// Whether an existing object may be replaced.
    pub(crate) upsert: bool,
}

/// Asks whether the session's role may write this.
///
/// # Errors
/// `AccessDenied`; `KeyAlreadyExists`, also when the taken key is invisible; `RelatedResourceMissing`.
pub(crate) async fn may_write(session: &Session, intent: &Intent<'_>) -> Result<(), StorageError> {
    let mut metadata = json!({});
    if let Some(mime_type) = intent.mime_type {
        metadata["mimetype"] = json!(mime_type);
    }
    if let Some(content_length) = intent.content_length {
        metadata["contentLength"] = json!(content_length);
    }
    let statement = Statement::new(if intent.upsert { UPSERT } else { INSERT })
        .taken_means(Taken::Key)
        .bind(&intent.target.bucket)
        .bind(&intent.target.key)
        .bind_optional(intent.owner.uuid())
        .bind_optional(intent.owner.id.as_deref())
        .bind(metadata.to_string())
        .bind_optional(intent.user_metadata.map(Value::to_string));
    session.probe(statement).await?;
    Ok(())
}
