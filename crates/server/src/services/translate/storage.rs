//! Configuration → settings of the storage service, its object store and its buckets.

use secrecy::ExposeSecret;
use selvedge_config::{BucketSection, Config, Mode};
use selvedge_database::objects_store;
use selvedge_keys::KeySet;
use selvedge_storage::{BucketSeed, S3KeyPair, S3ProtocolConfig, StorageConfig};
use selvedge_terminal::print_warnings;
use selvedge_token::development;

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
        ..objects_store::store(config)
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
