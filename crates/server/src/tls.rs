//! `[api.tls]`: HTTPS with the project's own certificate.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use selvedge_project_files::{MAX_SETTINGS_BYTES, read_file};

use crate::config::TlsFiles;

/// The TLS settings of the API's listeners.
///
/// # Errors
/// A certificate or key that cannot be read, or a key that does not belong to the certificate.
pub(crate) fn server_config(files: &TlsFiles) -> Result<Arc<ServerConfig>> {
    let certificates = read_pem_file("cert_path", &files.certificate)?;
    let chain = CertificateDer::pem_slice_iter(&certificates)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| unreadable_file("cert_path", &files.certificate, &error))?;
    let key = PrivateKeyDer::from_pem_slice(&read_pem_file("key_path", &files.key)?)
        .map_err(|error| unreadable_file("key_path", &files.key, &error))?;
    // Named explicitly: if a dependency compiles in a second provider, rustls has no default and panics.
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .context("TLS")?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map(Arc::new)
        .context("[api.tls]: certificate and key do not fit together")
}

fn read_pem_file(key: &str, path: &Path) -> Result<Vec<u8>> {
    read_file(path, MAX_SETTINGS_BYTES).map_err(|error| unreadable_file(key, path, &error))
}

fn unreadable_file(key: &str, path: &Path, error: &dyn Display) -> anyhow::Error {
    anyhow!("[api.tls] {key}: cannot use {}: {error}", path.display())
}
