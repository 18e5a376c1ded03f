//! Settings of the storage service. The server fills them from `[storage]` of the project's configuration.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::backend::{Backend, FileBackend, OwnersNote, S3Backend, S3BackendConfig};

/// Settings of the storage service, read once at start.
#[derive(Debug, Clone)]
pub struct StorageConfig {
    /// Folder for the bytes of all objects. Created when missing; no other software may write there.
    /// Default `.selvedge/storage`, relative to the working directory.
    pub root: PathBuf,
    /// Which databases have their objects in `root`; with more than one nothing is swept. Default none, which means this one alone.
    pub owners: Option<OwnersNote>,
    /// A bucket of an S3-compatible store for the bytes, instead of `root`. Default none.
    pub s3_backend: Option<S3BackendConfig>,
    /// Credentials for the S3 protocol at `/s3`; `None` switches it off. Default none.
    pub s3_protocol: Option<S3ProtocolConfig>,
    /// Whether a request without Authorization and apikey is refused as one with an empty token, as behind the gateway of the
    /// Supabase CLI; else with the words of the service alone. Default false.
    pub behind_gateway: bool,
    /// Path under which the service is mounted; removed before routing. Default `/storage/v1`.
    pub mount_path: String,
    /// Largest object in bytes; buckets can only lower it. Default 50 MiB (52 428 800).
    pub file_size_limit_bytes: u64,
    /// How long a signed upload URL is valid. Default two hours.
    pub signed_upload_url_lifetime: Duration,
    /// The address by which clients reach us, such as `https://api.example.com`, for `Location` of resumable uploads and
    /// for the host and the path prefix that S3 clients sign. `None`: what the request's `Host` says, and for `Location`
    /// what a trusted proxy reports.
    pub public_url: Option<String>,
    /// How long a resumable upload waits for its next bytes. Default one hour.
    pub resumable_upload_lifetime: Duration,
    /// How long an S3 multipart upload waits for its next part. Default 24 hours.
    pub multipart_upload_lifetime: Duration,
    /// Most unfinished uploads, resumable and S3 multipart together, of one user, or of one address without a user; `None` for no
    /// limit. The service has none. Default 256.
    pub unfinished_uploads: Option<u64>,
    /// Most bytes of these uploads; `None` for no limit. Default 1000 MiB, which is 20 of the largest objects.
    pub unfinished_upload_bytes: Option<u64>,
    /// Interval between two removals of expired uploads. Default one minute.
    pub resumable_sweep_interval: Duration,
    /// Whether `/render/image` is served and transformations can be signed. Default false.
    pub image_transformation: bool,
    /// Most bytes of rendered images that are cached in `root/renders`. Default 512 MiB.
    pub render_cache_bytes: u64,
    /// Memory for the pixels of images that are being rendered. More than the dearest image takes, about 460 MiB with what is kept for small ones, is not used.
    /// Default unlimited.
    pub render_memory_bytes: u64,
    /// How often per second one client may request one rendered path, on average over four seconds; `None` for no limit.
    /// Default none.
    pub render_rate_limit: Option<u32>,
    /// `s-maxage` in seconds that is appended to `Cache-Control` of conditional requests; 0 appends nothing. Default 0.
    pub shared_max_age_s: u32,
    /// Most objects of a bucket that can be emptied by one request. Default 200 000.
    pub empty_bucket_max_objects: i64,
    /// Connections for work that needs several statements in one transaction. Default 8.
    pub transaction_pool_size: usize,
    /// How long a write waits for another write of the same object. Default 5 s.
    pub object_lock_timeout: Duration,
    /// How long an upload may send nothing before it is aborted. Default 60 s.
    pub upload_idle_timeout: Duration,
}

impl StorageConfig {
    /// Opens the store of object bytes.
    ///
    /// # Errors
    /// When its folder cannot be created or read.
    pub fn open_backend(&self) -> io::Result<Arc<dyn Backend>> {
        Ok(match &self.s3_backend {
            Some(s3) => Arc::new(S3Backend::open(s3.clone())?),
            None => Arc::new(FileBackend::open(&self.root)?.with_owners(self.owners.clone())),
        })
    }
}

impl Default for StorageConfig {
    fn default() -> Self {
        Self {
            root: PathBuf::from(".selvedge/storage"),
            owners: None,
            s3_backend: None,
            s3_protocol: None,
            behind_gateway: false,
            mount_path: "/storage/v1".to_owned(),
            file_size_limit_bytes: 50 * 1024 * 1024,
            signed_upload_url_lifetime: Duration::from_secs(7200),
            public_url: None,
            resumable_upload_lifetime: Duration::from_secs(3600),
            multipart_upload_lifetime: Duration::from_secs(24 * 3600),
            unfinished_uploads: Some(256),
            unfinished_upload_bytes: Some(20 * 50 * 1024 * 1024),
            resumable_sweep_interval: Duration::from_secs(60),
            image_transformation: false,
            render_cache_bytes: 512 * 1024 * 1024,
            render_memory_bytes: u64::MAX,
            render_rate_limit: None,
            shared_max_age_s: 0,
            empty_bucket_max_objects: 200_000,
            transaction_pool_size: 8,
            object_lock_timeout: Duration::from_secs(5),
            upload_idle_timeout: Duration::from_secs(60),
        }
    }
}

/// Region and credentials of the S3 protocol.
#[derive(Clone)]
pub struct S3ProtocolConfig {
    /// The name of our region. Signatures of any region are accepted.
    pub region: String,
    /// The pair that acts as `service_role`.
    pub service: Option<S3KeyPair>,
    /// Access keys that are accepted with a session token: the project's reference in each spelling that clients use.
    pub project_refs: Vec<String>,
    /// Secrets that are accepted with a session token: the project's public keys.
    pub anon_keys: Vec<String>,
}

/// An access key and its secret.
#[derive(Clone)]
pub struct S3KeyPair {
    /// Public part.
    pub access_key_id: String,
    /// Secret part.
    pub secret_access_key: String,
}

impl std::fmt::Debug for S3ProtocolConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("S3ProtocolConfig")
            .field("region", &self.region)
            .field("service", &self.service)
            .field("project_refs", &self.project_refs)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for S3KeyPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("S3KeyPair")
            .field("access_key_id", &self.access_key_id)
            .finish_non_exhaustive()
    }
}
