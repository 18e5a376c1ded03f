//! Checks whether the policies let a caller write an object: runs the real statement and rolls it back. Asked before bytes arrive, and
//! again when they are there, because an upload may take hours, in which a right can be taken away.

use deadpool_postgres::Transaction;
use serde_json::{Value, json};
use tokio_postgres::types::ToSql;

use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::{StorageError, UniqueKey};
use crate::identity::Owner;
use crate::request::object_path::ObjectPath;

/// Version `1` is the original's placeholder: the real version is unknown before the bytes arrive, and the row is
/// rolled back. No `returning`, so that an INSERT policy suffices.
const INSERT: &str = "insert into storage.objects (bucket_id, name, owner, owner_id, version, metadata, user_metadata) \
     values ($1, $2, $3::text::uuid, $4, '1', $5::text::jsonb, $6::text::jsonb)";

/// `returning` makes PostgreSQL apply the SELECT policies as well, as the contract's upsert does.
const UPSERT: &str = "insert into storage.objects as o \
     (bucket_id, name, owner, owner_id, version, metadata, user_metadata) \
     values ($1, $2, $3::text::uuid, $4, '1', $5::text::jsonb, $6::text::jsonb) \
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

impl WriteIntent<'_> {
    fn statement(&self) -> &'static str {
        if self.upsert { UPSERT } else { INSERT }
    }

    /// The column `metadata` that policies see.
    fn metadata(&self) -> String {
        let mut metadata = json!({});
        if let Some(mime_type) = self.mime_type {
            metadata["mimetype"] = json!(mime_type);
        }
        if let Some(content_length) = self.content_length {
            metadata["contentLength"] = json!(content_length);
        }
        metadata.to_string()
    }
}

/// A question that was asked before the bytes arrived, to be asked again before they become an object.
pub(crate) struct AskedWrite {
    session: DbSession,
    owner: Owner,
    mime_type: Option<String>,
    content_length: Option<u64>,
    user_metadata: Option<Value>,
}

impl AskedWrite {
    pub(crate) fn new(session: &DbSession, intent: &WriteIntent<'_>) -> Self {
        Self {
            session: session.clone(),
            owner: intent.owner.clone(),
            mime_type: intent.mime_type.map(str::to_owned),
            content_length: intent.content_length,
            user_metadata: intent.user_metadata.cloned(),
        }
    }

    fn intent<'a>(&'a self, target: &'a ObjectPath, upsert: bool) -> WriteIntent<'a> {
        WriteIntent {
            target,
            owner: &self.owner,
            mime_type: self.mime_type.as_deref(),
            content_length: self.content_length,
            user_metadata: self.user_metadata.as_ref(),
            upsert,
        }
    }

    /// Asks again, in a transaction of its own.
    ///
    /// # Errors
    /// Those of [`authorize_write`].
    pub(crate) async fn ask(&self, target: &ObjectPath, upsert: bool) -> Result<(), StorageError> {
        authorize_write(&self.session, &self.intent(target, upsert)).await
    }

    /// Asks again within a transaction that has locked the object, so that the answer is about the row that will be replaced.
    ///
    /// # Errors
    /// Those of [`authorize_write`].
    pub(crate) async fn ask_within(
        &self,
        transaction: &mut Transaction<'_>,
        target: &ObjectPath,
        upsert: bool,
    ) -> Result<(), StorageError> {
        let map_error = |error| StorageError::from_tokio_postgres(error, UniqueKey::Object);
        let intent = self.intent(target, upsert);
        // Going back to the savepoint undoes the write, and the role and settings of the caller.
        let savepoint = transaction.savepoint("asked").await.map_err(map_error)?;
        self.session.become_caller(&savepoint).await?;
        let statement = savepoint
            .prepare_cached(intent.statement())
            .await
            .map_err(map_error)?;
        let (owner, metadata) = (intent.owner.uuid(), intent.metadata());
        let user_metadata = intent.user_metadata.map(Value::to_string);
        let values: [&(dyn ToSql + Sync); 6] = [
            &target.bucket,
            &target.key,
            &owner,
            &intent.owner.id,
            &metadata,
            &user_metadata,
        ];
        let asked = savepoint.execute(&statement, &values).await;
        savepoint.rollback().await.map_err(map_error)?;
        asked.map_err(map_error)?;
        Ok(())
    }
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
    let statement = Statement::new(intent.statement())
        .unique_violation_means(UniqueKey::Object)
        .bind(&intent.target.bucket)
        .bind(&intent.target.key)
        .bind_optional(intent.owner.uuid())
        .bind_optional(intent.owner.id.as_deref())
        .bind(intent.metadata())
        .bind_optional(intent.user_metadata.map(Value::to_string));
    session.dry_run(statement).await?;
    Ok(())
}
