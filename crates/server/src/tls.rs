//! `[api.tls]`: HTTPS with the project's own certificate.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::config::TlsFiles;

/// The TLS settings of the API's listeners.
///
/// # Errors
/// A certificate or key that cannot be read, or a key that does not belong to the certificate.
pub(crate) fn server_config(files: &TlsFiles) -> Result<Arc<ServerConfig>> {
    let chain = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable_file("cert_path", &files.certificate, &error))?;
    let key = PrivateKeyDer::from_pem_file(&files.key)
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

fn unreadable_file(key: &str, path: &Path, error: &rustls::pki_types::pem::Error) -> anyhow::Error {
    anyhow!("[api.tls] {key}: cannot use {}: {error}", path.display())
}
