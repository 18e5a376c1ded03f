//! Configuration → the functions written in Rust.

use std::sync::Arc;

use selvedge_config::{Config, Mode};
use selvedge_functions::{Addresses, NativeFunction, ProductImport, ProductImportConfig, Retailer};
use selvedge_keys::KeySet;

use super::functions::function_url;

/// The functions written in Rust that the configuration switches on.
pub(in crate::services) fn native_functions(
    config: &Config,
    keys: &KeySet,
    mode: Mode,
) -> Vec<Arc<dyn NativeFunction>> {
    let Some(section) = &config.selvedge.import else {
        return Vec::new();
    };
    let import = ProductImport::new(ProductImportConfig {
        api_url: function_url(config, mode),
        anon_key: keys.anon_key.clone(),
        check: section.check.clone(),
        bucket: section.bucket.clone(),
        folder: section.folder.clone(),
        per_minute: section.per_minute,
        retailer: Retailer {
            hosts: section.hosts.clone(),
            requires_https: true,
        },
        addresses: Addresses {
            fixed: section.addresses.clone(),
            names: None,
        },
    });
    vec![Arc::new(import)]
}
