//! The settings of rustls that all certificates share.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::server::ResolvesServerCert;

/// The protocol that a certificate authority asks for when it proves a domain by TLS (RFC 8737).
pub const ACME_PROTOCOL: &[u8] = b"acme-tls/1";

/// TLS 1.2 with forward secrecy and authenticated encryption, and TLS 1.3. Sessions are resumed by tickets, whose keys change every six hours.
pub(crate) fn make_server_config(
    resolver: Arc<dyn ResolvesServerCert>,
) -> Result<Arc<ServerConfig>, rustls::Error> {
    // Named explicitly: if a dependency compiles in a second provider, rustls has no default and panics.
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(resolver);
    config.ticketer = rustls::crypto::ring::Ticketer::new()?;
    Ok(Arc::new(config))
}
