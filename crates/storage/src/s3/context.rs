//! One request of the S3 protocol after its signature was verified.

use std::sync::Arc;

use super::body::S3Body;
use super::error::S3Error;
use crate::context::RequestContext;
use crate::database::session::DbSession;
use crate::error::StorageError;
use crate::object::lookup::{Bucket, find_bucket};
use crate::state::Storage;
use crate::validation::names::check_bucket_name;
use crate::validation::object_limits::ObjectLimits;

/// A request whose signature is verified.
pub(super) struct S3Context {
    pub(super) http: RequestContext,
    /// The session under the signer's role.
    pub(super) caller: DbSession,
    pub(super) body: Option<S3Body>,
}

impl S3Context {
    /// The body. It can be taken once.
    pub(super) fn take_body(&mut self) -> Result<S3Body, S3Error> {
        self.body
            .take()
            .ok_or_else(|| StorageError::internal("the body was taken before").into())
    }

    /// How many bytes the object or document has, if the client declared it.
    pub(super) fn declared_bytes(&self) -> Option<u64> {
        self.body.as_ref()?.declared_bytes()
    }

    /// A header as text; `None` when it is absent or not text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.http.header(name)
    }

    /// A parameter of the query; an empty one counts as absent.
    pub(super) fn parameter(&self, name: &str) -> Result<Option<&str>, S3Error> {
        Ok(self.http.query.text(name)?.filter(|text| !text.is_empty()))
    }

    /// The size of a page: at most 1000, which is also the default.
    ///
    /// # Errors
    /// `InvalidArgument` for a negative number or text.
    pub(super) fn page_size(&self, name: &'static str) -> Result<i64, S3Error> {
        const MAX_PAGE_SIZE: i64 = 1000;
        match self.parameter(name)? {
            None => Ok(MAX_PAGE_SIZE),
            Some(text) => match text.parse() {
                // Compat: like in the original, zero means the default.
                Ok(0) => Ok(MAX_PAGE_SIZE),
                Ok(size @ 1..) => Ok(Ord::min(size, MAX_PAGE_SIZE)),
                _ => Err(S3Error::InvalidArgument(name)),
            },
        }
    }

    /// The bucket, looked up as the service: callers need no policy on `storage.buckets`.
    ///
    /// # Errors
    /// `InvalidBucketName`, `NoSuchBucket`.
    pub(super) async fn find_bucket(&self, id: &str) -> Result<Bucket, S3Error> {
        check_bucket_name(id)?;
        Ok(find_bucket(&self.service(), id).await?)
    }

    /// The limits of a bucket for the object of this key.
    pub(super) fn limits<'b>(&self, bucket: &'b Bucket, key: &str) -> ObjectLimits<'b> {
        bucket.limits(self.storage(), key)
    }

    /// The state that all requests share.
    pub(super) fn storage(&self) -> &Arc<Storage> {
        self.http.storage()
    }

    /// A session as the service itself, which bypasses all policies.
    pub(super) fn service(&self) -> DbSession {
        self.http.service()
    }
}
