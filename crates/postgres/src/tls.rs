//! TLS to the database: certificates are verified against the machine's trust store unless the URL says otherwise.

use std::sync::{Arc, LazyLock};

use rustls::ClientConfig;
use tokio_postgres_rustls::MakeRustlsConnect;

/// A connector for all connections. Whether TLS is used at all is the connection string's `sslmode`.
pub(crate) fn connector() -> MakeRustlsConnect {
    // Reading the machine's trust store takes milliseconds and megabytes, so all connections share one.
    static CONNECTOR: LazyLock<MakeRustlsConnect> = LazyLock::new(with_trust_store);
    CONNECTOR.clone()
}

fn with_trust_store() -> MakeRustlsConnect {
    let mut roots = rustls::RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    for error in &native.errors {
        tracing::debug!(%error, "a trust store could not be read");
    }
    roots.add_parsable_certificates(native.certs);
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring supports the default protocol versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    MakeRustlsConnect::new(config)
}
