//! The parts that move and copy have in common: the body, which names source and destination, and the limits of the
//! destination's bucket.

use actix_web::web;

use super::lookup::{Bucket, find_bucket};
use crate::context::RequestContext;
use crate::error::StorageError;
use crate::request::json_body::{Fields, read_object};
use crate::request::object_path::ObjectPath;
use crate::state::Storage;
use crate::validation::names::check_bucket_name;

/// Source and destination of a move or copy.
pub(super) struct Relocation {
    pub(super) source: ObjectPath,
    pub(super) destination: ObjectPath,
    /// The version that the source must have.
    pub(super) source_version: Option<String>,
    /// The whole body, for fields of one operation only.
    pub(super) body: Fields,
}

impl Relocation {
    /// Reads `{bucketId, sourceKey, destinationKey, destinationBucket?, sourceVersionId?}`; without a bucket the object stays in its own.
    ///
    /// # Errors
    /// `Schema`.
    pub(super) async fn read(context: &RequestContext, payload: web::Payload) -> Result<Self, StorageError> {
        let body = read_object(&context.request, payload).await?;
        let source = ObjectPath {
            bucket: body.required_text("bucketId")?,
            key: body.required_text("sourceKey")?,
        };
        let key = body.required_text("destinationKey")?;
        let bucket = body
            .text("destinationBucket")?
            .filter(|bucket| !bucket.is_empty());
        let destination = ObjectPath {
            bucket: bucket.unwrap_or_else(|| source.bucket.clone()),
            key,
        };
        // Clients of other languages write null for what is not given.
        let source_version = body
            .text("sourceVersionId")?
            .filter(|version| !version.is_empty());
        Ok(Self {
            source,
            destination,
            source_version,
            body,
        })
    }
}

/// Checks type and size of an object against the limits of the bucket that it is moved or copied to. Otherwise an
/// object could enter a bucket through another one that its limits refuse on upload.
///
/// # Errors
/// `InvalidMimeType`, `EntityTooLarge`, `NoSuchBucket`.
pub(crate) async fn check_destination_limits(
    context: &RequestContext,
    destination: &ObjectPath,
    mime_type: Option<&str>,
    size_bytes: Option<u64>,
) -> Result<(), StorageError> {
    // SQL may have made a bucket with such a name. No object gets there by the API.
    check_bucket_name(&destination.bucket).map_err(|_| StorageError::NoSuchBucket)?;
    let bucket = find_bucket(&context.service(), &destination.bucket).await?;
    check_limits_of(&bucket, context.storage(), destination, mime_type, size_bytes)
}

/// The same where the bucket is known.
///
/// # Errors
/// `InvalidMimeType`, `EntityTooLarge`.
pub(super) fn check_limits_of(
    bucket: &Bucket,
    storage: &Storage,
    destination: &ObjectPath,
    mime_type: Option<&str>,
    size_bytes: Option<u64>,
) -> Result<(), StorageError> {
    let limits = bucket.limits(storage, &destination.key);
    // Rows written by SQL may have no type; a bucket with a list then refuses them, as it cannot know what they are.
    limits.check_type(mime_type.unwrap_or_default())?;
    limits.check_size(size_bytes)
}
