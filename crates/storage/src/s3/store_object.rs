//! Stores the bytes of an upload; used by `PutObject` and by the form upload.

use bytes::Bytes;
use futures_util::Stream;
use serde_json::Value;

use super::error::S3Error;
use crate::context::RequestContext;
use crate::database::object_row::{Declared, ObjectRow};
use crate::database::session::DbSession;
use crate::identity::Owner;
use crate::object::authorize_write::{WriteIntent, authorize_write};
use crate::object::commit::{CommitChecks, NewObject, commit_object};
use crate::object::lookup::Bucket;
use crate::object::receive::receive_blob;
use crate::request::object_path::ObjectPath;

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
    /// Largest size in bytes that the signer of a form allows; without a form `u64::MAX`.
    pub(super) policy_limit: u64,
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
        let limits = self.bucket.limits(self.context.storage(), &self.target.key);
        limits.check_type(&self.declared.mime_type)?;
        limits.check_size(self.length)?;
        let max_bytes = limits.max_bytes.min(self.policy_limit);
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
        let (blob, info) = receive_blob(self.context.storage(), max_bytes, source).await?;
        let checks = CommitChecks::of(self.caller, &intent);
        let object = NewObject {
            checks: Some(checks),
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
