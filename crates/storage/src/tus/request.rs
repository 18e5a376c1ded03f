//! One request of the TUS protocol: who sent it, whether it may write the object, and how large that may become.

use selvedge_gateway::Caller;

use super::error::TusError;
use super::upload_id::UploadId;
use super::upload_table::{ResumableUpload, UploadTable};
use crate::context::RequestContext;
use crate::database::session::DbSession;
use crate::identity::Owner;
use crate::object::authorize_write::{WriteIntent, authorize_write};
use crate::object::lookup::Bucket;
use crate::request::object_path::ObjectPath;
use crate::unfinished::Holder;
use crate::url_token;
use crate::validation::object_limits::ObjectLimits;

/// One request of the protocol.
pub(super) struct TusRequest {
    pub(super) context: RequestContext,
    /// The caller's session; `None` on signed routes, where an upload token replaces it.
    pub(super) caller: Option<DbSession>,
}

/// Permission to write an object: its owner-to-be, and whether an existing object may be replaced.
#[derive(Debug, Clone)]
pub(super) struct WriteGrant {
    pub(super) owner: Owner,
    pub(super) upsert: bool,
    /// In whose share an upload counts that begins by this permission.
    pub(super) holder: Holder,
}

/// The data of an upload that policies can read.
#[derive(Clone, Copy, Default)]
pub(super) struct UploadDescription<'a> {
    pub(super) mime_type: Option<&'a str>,
    /// Declared size in bytes; `None` while it is deferred.
    pub(super) length: Option<u64>,
    pub(super) user_metadata: Option<&'a serde_json::Value>,
}

impl<'a> UploadDescription<'a> {
    pub(super) fn from_upload(upload: &'a ResumableUpload) -> Self {
        Self {
            mime_type: upload.content_type.as_deref(),
            length: upload.length,
            user_metadata: upload.user_metadata.as_ref(),
        }
    }

    pub(super) fn intent(self, target: &'a ObjectPath, owner: &'a Owner, upsert: bool) -> WriteIntent<'a> {
        WriteIntent {
            target,
            owner,
            mime_type: self.mime_type,
            content_length: self.length,
            user_metadata: self.user_metadata,
            upsert,
        }
    }
}

impl TusRequest {
    /// The table of uploads, accessed as the service.
    pub(super) fn uploads(&self) -> UploadTable {
        UploadTable::new(self.context.service())
    }

    /// Checks whether `target` may be written: by the policies, or by the upload token of a signed route.
    ///
    /// # Errors
    /// `SignatureRequired`, and those of the token or the policies.
    pub(super) async fn authorize(
        &self,
        target: &ObjectPath,
        description: UploadDescription<'_>,
    ) -> Result<WriteGrant, TusError> {
        let client = Caller::extract(&self.context.request).remote_ip();
        let Some(caller) = &self.caller else {
            let token = self
                .context
                .header("x-signature")
                .ok_or(TusError::SignatureRequired)?;
            let grant = url_token::verify_upload_token(self.context.storage(), token, target)?;
            return Ok(WriteGrant {
                holder: Holder::of_token(&grant, client),
                owner: Owner { id: grant.owner },
                upsert: grant.upsert,
            });
        };
        let grant = WriteGrant {
            owner: Owner::from_identity(caller.identity()),
            upsert: self.context.header("x-upsert") == Some("true"),
            holder: Holder::of_caller(caller.identity(), client),
        };
        let intent = description.intent(target, &grant.owner, grant.upsert);
        authorize_write(caller, &intent).await?;
        Ok(grant)
    }

    /// Finds an upload and checks whether it may be written. Permission is checked first, also for an unknown id, so
    /// that only callers with permission learn whether an upload exists.
    ///
    /// # Errors
    /// Those of [`Self::authorize`], `NotFound`, `Gone`.
    pub(super) async fn authorize_existing(
        &self,
        id: &UploadId,
    ) -> Result<(ResumableUpload, WriteGrant), TusError> {
        // Policies see the stored type and metadata, so these are looked up first; the result is not revealed yet.
        let known = self.uploads().find(id).await?;
        let description = known
            .as_ref()
            .map(UploadDescription::from_upload)
            .unwrap_or_default();
        let grant = self.authorize(&id.target, description).await?;
        let upload = known.ok_or(TusError::NotFound)?;
        upload.check_not_expired()?;
        Ok((upload, grant))
    }

    /// The limits of the target. Compat: on these routes a bucket's limit of 0 means no limit.
    pub(super) fn limits<'b>(&self, target: &ObjectPath, bucket: &'b Bucket) -> ObjectLimits<'b> {
        ObjectLimits::new(
            &target.key,
            self.context.storage().config().file_size_limit_bytes,
            bucket.file_size_limit.filter(|limit| *limit != 0),
            bucket.allowed_mime_types.as_deref(),
        )
    }
}
