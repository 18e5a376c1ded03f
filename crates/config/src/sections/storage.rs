//! `[storage]`: limits, buckets and the S3 protocol.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::reader::section::Section;

/// `[storage]`.
#[derive(Debug, Clone)]
pub struct StorageSection {
    /// Whether `/storage/v1` is served. Default true.
    pub enabled: bool,
    /// The largest object, in bytes. Default 50MiB.
    pub file_size_limit_bytes: u64,
    /// `[storage.image_transformation] enabled`. Default false.
    pub image_transformation: bool,
    /// `[storage.s3_protocol] enabled`. Default true.
    pub s3_protocol: bool,
    /// How long a signed upload URL is valid. Default: two hours, set by the service.
    pub signed_upload_url_lifetime: Option<Duration>,
    /// How long an unfinished resumable upload is kept after its last bytes. Default: one hour, set by the service.
    pub resumable_upload_lifetime: Option<Duration>,
    /// `[storage.buckets.<id>]`: created or updated when a fresh project starts.
    pub buckets: Vec<BucketSection>,
}

/// `[storage.buckets.<id>]`.
#[derive(Debug, Clone)]
pub struct BucketSection {
    /// The bucket's id and name.
    pub id: String,
    /// Whether objects are readable without an API key or token. Default false.
    pub public: bool,
    /// The largest object of this bucket, in bytes. Default: the limit of `[storage]`.
    pub file_size_limit_bytes: Option<u64>,
    /// Content types that may be uploaded (`image/*`). Default: all.
    pub allowed_mime_types: Vec<String>,
    /// A folder (relative to the project) whose files are uploaded into the bucket.
    pub objects_path: Option<PathBuf>,
}

impl StorageSection {
    pub(crate) fn read(section: &Section<'_>, project: &Path) -> Self {
        for hosted in ["analytics", "vector"] {
            section.section(hosted).ignore_all();
        }
        let buckets = section.section("buckets");
        Self {
            enabled: section.is_enabled(true),
            file_size_limit_bytes: section.size("file_size_limit", 50 * 1024 * 1024),
            image_transformation: section.section("image_transformation").is_enabled(false),
            s3_protocol: section.section("s3_protocol").is_enabled(true),
            signed_upload_url_lifetime: None,
            resumable_upload_lifetime: None,
            buckets: buckets
                .entry_names()
                .into_iter()
                .map(|id| read_bucket(&buckets, id, project))
                .collect(),
        }
    }
}

fn read_bucket(buckets: &Section<'_>, id: String, project: &Path) -> BucketSection {
    let section = buckets.section(&id);
    BucketSection {
        public: section.bool("public", false),
        file_size_limit_bytes: section
            .optional_size("file_size_limit")
            .filter(|bytes| *bytes > 0),
        allowed_mime_types: section.strings("allowed_mime_types", &[]),
        objects_path: section.optional_path("objects_path", project),
        id,
    }
}
