//! Ids of versions as S3 writes them: `null` is the version that was written while its bucket kept none, which is every object of a
//! bucket that never did.

use actix_web::HttpResponseBuilder;

use super::error::S3Error;
use crate::database::object_row::ObjectRow;
use crate::database::session::DbSession;
use crate::error::StorageError;
use crate::object::lookup::{Bucket, find_visible_object};
use crate::request::object_path::ObjectPath;
use crate::versions::{VersionId, find_null_version, find_null_version_id, find_version};

/// The id of a version that was written while its bucket kept none.
const NULL: &str = "null";

/// The version that a request names. An empty id names none in particular.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WantedVersion<'q> {
    Current,
    Null,
    Id(&'q str),
}

impl<'q> WantedVersion<'q> {
    pub(super) fn parse(id: Option<&'q str>) -> Self {
        match id {
            None | Some("") => Self::Current,
            Some(NULL) => Self::Null,
            Some(id) => Self::Id(id),
        }
    }

    /// What it means in this bucket. Where no versions were ever kept, `null` is the object itself, and no other id is one.
    ///
    /// # Errors
    /// `NoSuchVersion`.
    pub(super) fn in_bucket(self, bucket: &Bucket) -> Result<Self, S3Error> {
        match self {
            wanted if bucket.has_versions => Ok(wanted),
            Self::Current | Self::Null => Ok(Self::Current),
            Self::Id(_) => Err(S3Error::NoSuchVersion),
        }
    }

    /// The row of the version, if the session may see it.
    ///
    /// # Errors
    /// `NoSuchKey`; `NoSuchVersion` where a version is named.
    pub(super) async fn find(self, session: &DbSession, target: &ObjectPath) -> Result<ObjectRow, S3Error> {
        let found = match self {
            Self::Current => return Ok(find_visible_object(session, target, None).await?),
            Self::Null => find_null_version(session, target).await,
            Self::Id(id) => find_version(session, target, id).await,
        };
        match found {
            Err(StorageError::NoSuchKey) => Err(S3Error::NoSuchVersion),
            found => Ok(found?),
        }
    }

    /// The id in the database, also of a marker; `None` for the current object, and where the key has no null version.
    ///
    /// # Errors
    /// PostgreSQL's error.
    pub(super) async fn resolve(
        self,
        service: &DbSession,
        target: &ObjectPath,
    ) -> Result<Option<VersionId>, StorageError> {
        match self {
            Self::Current => Ok(None),
            Self::Null => find_null_version_id(service, target).await,
            Self::Id(id) => Ok(Some(VersionId(Some(id.to_owned())))),
        }
    }
}

/// The id of a row's version.
pub(super) fn version_id(row: &ObjectRow) -> &str {
    match &row.version {
        Some(version) if row.is_versioned => version,
        _ => NULL,
    }
}

/// Tells the version in a header, where the object has one. Objects of buckets without versions are answered as they always were.
pub(super) fn set_version_header(response: &mut HttpResponseBuilder, row: &ObjectRow) {
    if row.is_versioned {
        response.insert_header(("x-amz-version-id", version_id(row)));
    }
}

/// Tells that the request has made, or removed, a marker.
pub(super) fn set_marker_headers(response: &mut HttpResponseBuilder, marker: &ObjectRow) {
    response.insert_header(("x-amz-delete-marker", "true"));
    response.insert_header(("x-amz-version-id", version_id(marker)));
}
