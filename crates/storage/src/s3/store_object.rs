//! Stores the bytes of an upload; used by `PutObject` and by the form upload.

use bytes::Bytes;
use futures_util::Stream;
use serde_json::Value;

use super::error::S3Error;
use crate::context::RequestContext;
use crate::database::object_row::{Declared, ObjectRow};
use crate::database::session::DbSession;
use crate::error::StorageError;
use crate::identity::Owner;
use crate::object::authorize_write::{WriteIntent, authorize_write};
use crate::object::commit::{NewObject, commit_object};
use crate::object::lookup::Bucket;
use crate::object::receive::receive_blob;
use crate::request::object_path::ObjectPath;
use crate::validation::limits::check_mime_type;
use crate::validation::names::is_folder_placeholder;

/// An upload whose bucket and headers are known. The fields are public, because two operations fill them.
pub(super) struct S3Upload<'c> {
    pub(super) context: &'c RequestContext,
    pub(super) caller: &'c DbSession,
    pub(super) bucket: Bucket,
    pub(super) target: ObjectPath,
    pub(super) declared: Declared,
    pub(super) user_metadata: Value,
    /// Declared size in bytes.
    pub(super) length: Option<u64>,
    /// Largest size in bytes.
    pub(super) limit: u64,
    /// Whether an existing object may be replaced.
    pub(super) upsert: bool,
}

impl S3Upload<'_> {
    /// Checks the upload, receives its bytes and commits the object.
    ///
    /// # Errors
    /// `InvalidMimeType`, `EntityTooLarge`, `InvalidKey`, `AccessDenied`, those of the body.
    pub(super) async fn store(
        self,
        source: impl Stream<Item = Result<Bytes, S3Error>> + Unpin,
    ) -> Result<ObjectRow, S3Error> {
        if !is_folder_placeholder(&self.target.key) {
            check_mime_type(
                &self.declared.mime_type,
                self.bucket.allowed_mime_types.as_deref(),
            )?;
        }
        if self.length.is_some_and(|length| length > self.limit) {
            return Err(StorageError::EntityTooLarge.into());
        }
        self.target.check_names()?;
        let owner = Owner::from_identity(self.caller.identity());
        let intent = WriteIntent {
            target: &self.target,
            owner: &owner,
            mime_type: Some(&self.declared.mime_type),
            content_length: self.length,
            user_metadata: Some(&self.user_metadata),
            upsert: self.upsert,
        };
        authorize_write(self.caller, &intent).await?;
        let (blob, info) = receive_blob(self.context.storage(), self.limit, source).await?;
        let object = NewObject {
            target: self.target,
            owner,
            metadata: self.declared.metadata(&info),
            user_metadata: Some(self.user_metadata),
            upsert: self.upsert,
            blob,
        };
        Ok(commit_object(self.context.service(), object).await?)
    }
}
