//! Settings of the S3 backend.

use std::path::PathBuf;
use std::time::Duration;

/// The bucket of the S3 backend and the credentials for it.
#[derive(Clone)]
pub struct S3BackendConfig {
    /// Name of the bucket, which must exist.
    pub bucket: String,
    /// Prefix of all keys, to share a bucket with other software. Default empty.
    pub prefix: String,
    /// URL of the store; `None` means AWS in `region`.
    pub endpoint: Option<String>,
    /// Region that requests are signed for.
    pub region: String,
    /// Access key.
    pub access_key_id: String,
    /// Secret of the access key.
    pub secret_access_key: String,
    /// Token of temporary credentials.
    pub session_token: Option<String>,
    /// Whether the bucket is part of the path instead of the host name.
    pub path_style: bool,
    /// How often a failing request is tried in total; three times are usual.
    pub attempts: u32,
    /// Local folder for bytes that are not uploaded yet.
    pub spool: PathBuf,
    /// How long a blob stays after its row was deleted: a large one is read by a second request, which must find the blob of
    /// the first. Thirty seconds are enough.
    pub removal_delay: Duration,
}

impl std::fmt::Debug for S3BackendConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The output must not contain the secrets.
        f.debug_struct("S3BackendConfig")
            .field("bucket", &self.bucket)
            .field("prefix", &self.prefix)
            .field("endpoint", &self.endpoint)
            .field("region", &self.region)
            .field("path_style", &self.path_style)
            .finish_non_exhaustive()
    }
}
