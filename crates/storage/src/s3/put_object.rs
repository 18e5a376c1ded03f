//! `PUT /{bucket}/{key}`: an object from a body. Always replaces, unless `If-None-Match: *` forbids it.

use actix_web::HttpResponse;
use bytes::Bytes;
use futures_util::Stream;
use serde_json::Value;

use super::error::S3Error;
use super::{S3Call, check_target, declared};
use crate::error::StorageError;
use crate::identity::Owner;
use crate::limits::check_mime_type;
use crate::names::is_folder_placeholder;
use crate::object::commit::{self, NewObject};
use crate::object::find::Bucket;
use crate::object::intake;
use crate::object::probe::{self, Intent};
use crate::object_row::{Declared, ObjectRow};
use crate::route::ObjectPath;
use crate::serve::Call;
use crate::session::Session;

/// An empty object whose key ends with a slash stands for a folder.
const PLACEHOLDER: &str = ".emptyFolderPlaceholder";

/// 200 with the new tag.
///
/// # Errors
/// `NoSuchBucket`, `InvalidMimeType`, `EntityTooLarge`, `InvalidKey`, `AccessDenied`, those of the body.
pub(super) async fn put_object(mut call: S3Call, mut target: ObjectPath) -> Result<HttpResponse, S3Error> {
    let bucket = call.bucket(&target.bucket).await?;
    let length = call.declared_bytes();
    if target.key.ends_with('/') && length == Some(0) {
        target.key.push_str(PLACEHOLDER);
    }
    let declared = declared::declared(call.header("content-type"), call.header("cache-control"))?;
    let body = call.take_body()?;
    if call.header("if-match").is_some() {
        // To overwrite what a condition was to protect would be worse than to refuse.
        return Err(S3Error::NotImplemented);
    }
    let creates_only = call.header("if-none-match").map(str::trim) == Some("*");
    let upload = Upload {
        call: &call.call,
        caller: &call.caller,
        limit: limit(&call, &bucket, &target),
        length,
        upsert: !creates_only,
        user_metadata: declared::user_metadata(&call.call.request),
        bucket,
        target,
        declared,
    };
    let stored = match upload.store(body.stream()).await {
        Err(S3Error::Storage(StorageError::KeyAlreadyExists)) if creates_only => {
            return Err(S3Error::PreconditionFailed);
        }
        stored => stored?,
    };
    let mut response = HttpResponse::Ok();
    crate::asset::set(
        &mut response,
        actix_web::http::header::ETAG,
        stored.etag().unwrap_or_default(),
    );
    Ok(response.finish())
}

fn limit(call: &S3Call, bucket: &Bucket, target: &ObjectPath) -> u64 {
    if is_folder_placeholder(&target.key) {
        0
    } else {
        call.size_limit(bucket)
    }
}

/// An upload whose bucket is known, in the order of its checks.
pub(super) struct Upload<'c> {
    pub(super) call: &'c Call,
    pub(super) caller: &'c Session,
    pub(super) bucket: Bucket,
    pub(super) target: ObjectPath,
    pub(super) declared: Declared,
    pub(super) user_metadata: Value,
    /// Declared bytes.
    pub(super) length: Option<u64>,
    pub(super) limit: u64,
    pub(super) upsert: bool,
}

impl Upload<'_> {
    /// Checks, receives and commits.
    ///
    /// # Errors
    /// As [`put_object`].
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
        check_target(&self.target)?;
        let owner = Owner::of(self.caller.identity());
        let intent = Intent {
            target: &self.target,
            owner: &owner,
            mime_type: Some(&self.declared.mime_type),
            content_length: self.length,
            user_metadata: Some(&self.user_metadata),
            upsert: self.upsert,
        };
        probe::may_write(self.caller, &intent).await?;
        let (blob, info) = intake::receive(self.call.worker.storage(), self.limit, source).await?;
        let object = NewObject {
            target: self.target,
            owner,
            metadata: self.declared.metadata(&info),
            user_metadata: Some(self.user_metadata),
            upsert: self.upsert,
            blob,
        };
        Ok(commit::commit(self.call.service(), object).await?)
    }
}
