//! Checks, before bytes arrive, whether the policies let a caller write an object: runs the real statement and rolls it
//! back.

use serde_json::{Value, json};

use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::{StorageError, UniqueKey};
use crate::identity::Owner;
use crate::request::object_path::ObjectPath;

/// Version `1` is the original's placeholder: the real version is unknown before the bytes arrive, and the row is
/// rolled back. No `returning`, so that an INSERT policy suffices.
const INSERT: &str = "insert into storage.objects (bucket_id, name, owner, owner_id, version, metadata, user_metadata) \
     values ($1, $2, $3::uuid, $4, '1', $5::jsonb, $6::jsonb)";

/// `returning` makes PostgreSQL apply the SELECT policies as well, as the contract's upsert does.
const UPSERT: &str = "insert into storage.objects as o \
     (bucket_id, name, owner, owner_id, version, metadata, user_metadata) \
     values ($1, $2, $3::uuid, $4, '1', $5::jsonb, $6::jsonb) \
     on conflict (bucket_id, name) do update set version = excluded.version, metadata = excluded.metadata, \
     user_metadata = excluded.user_metadata, owner = excluded.owner, owner_id = excluded.owner_id \
     returning o.id";

/// A write that is about to happen, as far as policies can see it.
pub(crate) struct WriteIntent<'a> {
    pub(crate) target: &'a ObjectPath,
    pub(crate) owner: &'a Owner,
    /// Declared content type.
    pub(crate) mime_type: Option<&'a str>,
    /// Declared size in bytes; that of a form includes the form's own overhead.
    pub(crate) content_length: Option<u64>,
    pub(crate) user_metadata: Option<&'a Value>,
    /// Whether an existing object may be replaced.
    pub(crate) upsert: bool,
}

/// Checks whether the session's role may write the object.
///
/// # Errors
/// `AccessDenied`; `KeyAlreadyExists`, also when the caller may not see the object of that key;
/// `RelatedResourceMissing`.
pub(crate) async fn authorize_write(
    session: &DbSession,
    intent: &WriteIntent<'_>,
) -> Result<(), StorageError> {
    let mut metadata = json!({});
    if let Some(mime_type) = intent.mime_type {
        metadata["mimetype"] = json!(mime_type);
    }
    if let Some(content_length) = intent.content_length {
        metadata["contentLength"] = json!(content_length);
    }
    let statement = Statement::new(if intent.upsert { UPSERT } else { INSERT })
        .unique_violation_means(UniqueKey::Object)
        .bind(&intent.target.bucket)
        .bind(&intent.target.key)
        .bind_optional(intent.owner.uuid())
        .bind_optional(intent.owner.id.as_deref())
        .bind(metadata.to_string())
        .bind_optional(intent.user_metadata.map(Value::to_string));
    session.dry_run(statement).await?;
    Ok(())
}
