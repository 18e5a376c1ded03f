//! Where the bytes of a project's objects are kept, and with which limits.

use std::sync::Arc;
use std::time::Duration;

use secrecy::ExposeSecret;
use selvedge_config::{Config, S3Section};
use selvedge_storage::{Backend, S3BackendConfig, StorageConfig};

use crate::objects_owner::objects_folder;

/// Bytes of unfinished uploads that each user may have at least if no limit is configured: 1000 MiB.
const LEAST_UNFINISHED_BYTES: u64 = 1000 << 20;

/// The settings of the storage service without the S3 protocol's credentials.
pub fn store(config: &Config) -> StorageConfig {
    let defaults = StorageConfig::default();
    let limits = &config.selvedge.limits;
    let largest_object = config.storage.file_size_limit_bytes;
    let unfinished_bytes = limits
        .unfinished_upload_bytes
        .unwrap_or_else(|| largest_object.saturating_mul(20).max(LEAST_UNFINISHED_BYTES));
    StorageConfig {
        behind_gateway: true,
        unfinished_uploads: Some(limits.unfinished_uploads).filter(|most| *most > 0),
        unfinished_upload_bytes: Some(unfinished_bytes).filter(|most| *most > 0),
        multipart_upload_lifetime: limits.multipart_upload_lifetime,
        root: objects_folder(config),
        s3_backend: config.selvedge.s3.as_ref().map(|s3| s3_backend(s3, config)),
        file_size_limit_bytes: config.storage.file_size_limit_bytes,
        image_transformation: config.storage.image_transformation,
        public_url: config.api.external_url.clone(),
        transaction_pool_size: config.selvedge.service_connections,
        render_rate_limit: Some(limits.render_per_second).filter(|per_second| *per_second > 0),
        signed_upload_url_lifetime: config
            .storage
            .signed_upload_url_lifetime
            .unwrap_or(defaults.signed_upload_url_lifetime),
        resumable_upload_lifetime: config
            .storage
            .resumable_upload_lifetime
            .unwrap_or(defaults.resumable_upload_lifetime),
        ..defaults
    }
}

fn s3_backend(section: &S3Section, config: &Config) -> S3BackendConfig {
    S3BackendConfig {
        bucket: section.bucket.clone(),
        prefix: section.prefix.clone(),
        endpoint: section.endpoint.clone(),
        region: section.region.clone(),
        access_key_id: section.access_key_id.clone(),
        secret_access_key: section.secret_access_key.expose_secret().to_owned(),
        session_token: section
            .session_token
            .as_ref()
            .map(|token| token.expose_secret().to_owned()),
        path_style: section.path_style,
        attempts: 3,
        spool: config.selvedge.data_dir.join("spool"),
        // A download reads a large blob in several requests to the store. The blob of a replaced object is kept for this
        // time, so that downloads that have begun can finish.
        removal_delay: Duration::from_secs(30),
    }
}

/// Opens the store of object bytes without the storage service.
pub fn open_blob_store(config: &Config) -> std::io::Result<Arc<dyn Backend>> {
    store(config).open_backend()
}
