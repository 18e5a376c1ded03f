//! Configuration → settings of the storage service, its object store and its buckets.

use std::time::Duration;

use secrecy::ExposeSecret;
use selvedge_config::{BucketSection, Config, Mode, S3Section};
use selvedge_database::objects_owner::objects_folder;
use selvedge_keys::KeySet;
use selvedge_storage::{BucketSeed, S3BackendConfig, S3KeyPair, S3ProtocolConfig, StorageConfig};
use selvedge_terminal::print_warnings;
use selvedge_token::development;

/// Bytes of unfinished uploads that each user may have at least if no limit is configured: 1000 MiB.
const LEAST_UNFINISHED_BYTES: u64 = 1000 << 20;

/// The settings of the storage service, with the S3 protocol. Images that are being rendered take at most
/// `render_memory_bytes`.
pub(in crate::services) fn storage_config(
    config: &Config,
    keys: &KeySet,
    mode: Mode,
    render_memory_bytes: u64,
) -> StorageConfig {
    StorageConfig {
        render_memory_bytes,
        s3_protocol: config
            .storage
            .s3_protocol
            .then(|| s3_protocol(config, keys, mode)),
        ..store(config)
    }
}

/// The settings of the storage service without the S3 protocol's credentials.
pub(in crate::services) fn store(config: &Config) -> StorageConfig {
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

/// Returns the credentials of the S3 protocol: the configured key pair; in development without one, the CLI's well-known
/// pair.
///
/// Clients that sign with a user's session token send the project's name and the anon key in place of the pair. Compat: the
/// CLI calls its local project `stub`.
fn s3_protocol(config: &Config, keys: &KeySet, mode: Mode) -> S3ProtocolConfig {
    let section = &config.selvedge.s3_protocol;
    let service = match (&section.access_key_id, &section.secret_access_key, mode) {
        (Some(id), Some(secret), _) => Some(S3KeyPair {
            access_key_id: id.clone(),
            secret_access_key: secret.expose_secret().to_owned(),
        }),
        (_, _, Mode::Development) => Some(S3KeyPair {
            access_key_id: development::s3_access_key_id(),
            secret_access_key: development::s3_secret_access_key(),
        }),
        _ => None,
    };
    let anon_keys: Vec<String> = [Some(&keys.anon_key), keys.publishable_key.as_ref()]
        .into_iter()
        .flatten()
        .map(|key| key.expose_secret().to_owned())
        .collect();
    let mut project_refs = vec![config.project.id.clone(), "stub".to_owned()];
    project_refs.extend(anon_keys.iter().cloned());
    S3ProtocolConfig {
        region: section.region.clone(),
        service,
        project_refs,
        anon_keys,
    }
}

/// The configured buckets with the files to upload into them.
pub(in crate::services) fn bucket_seeds(config: &Config) -> Vec<BucketSeed> {
    config.storage.buckets.iter().map(bucket_seed).collect()
}

fn bucket_seed(section: &BucketSection) -> BucketSeed {
    let objects_path = section.objects_path.clone().filter(|folder| {
        let exists = folder.is_dir();
        if !exists {
            let line = format!(
                "bucket {}: objects_path {} is not a folder",
                section.id,
                folder.display()
            );
            print_warnings(&[line]);
        }
        exists
    });
    BucketSeed {
        id: section.id.clone(),
        public: section.public,
        file_size_limit: section
            .file_size_limit_bytes
            .and_then(|bytes| bytes.try_into().ok()),
        allowed_mime_types: section.allowed_mime_types.clone(),
        objects_path,
    }
}
