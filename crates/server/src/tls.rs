//! HTTPS: with the project's own certificate (`[api.tls]`), or with one that `serve` obtains (`[selvedge.tls]`).

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use rustls::ServerConfig;
use selvedge_certificates::{AcmeCertificates, AcmeSettings, ExternalAccount, OwnCertificate};
use selvedge_config::{Config, TlsFiles, TlsSection};
use selvedge_gateway::{Listener, keep_running};
use selvedge_project_files::{MAX_SETTINGS_BYTES, read_file};

/// Listeners of the API: plain, or with the certificate of `[api.tls]`, which is read again when its files change.
///
/// # Errors
/// A certificate or key that cannot be read, or a key that does not belong to the certificate.
pub(crate) fn api_listeners(config: &Config, listeners: Vec<TcpListener>) -> Result<Vec<Listener>> {
    let Some(files) = &config.api.tls else {
        return Ok(listeners.into_iter().map(Listener::Tcp).collect());
    };
    let own = read_own_certificate(files)?;
    let tls = own.server_config().context("[api.tls]")?;
    let own = Arc::new(own);
    actix_web::rt::spawn(keep_running("files of [api.tls]", move || {
        let own = own.clone();
        async move { own.follow_files().await }
    }));
    let with_tls = |listener| Listener::Tls(listener, tls.clone());
    Ok(listeners.into_iter().map(with_tls).collect())
}

/// The certificate of `[api.tls]` for another port than the API's, followed like that one; `None` where none is named.
///
/// # Errors
/// As [`api_listeners`].
pub(crate) fn own_server_config(config: &Config) -> Result<Option<Arc<ServerConfig>>> {
    let Some(files) = &config.api.tls else {
        return Ok(None);
    };
    let own = Arc::new(read_own_certificate(files)?);
    let tls = own.server_config().context("[api.tls]")?;
    actix_web::rt::spawn(keep_running("files of [api.tls] for the gate", move || {
        let own = own.clone();
        async move { own.follow_files().await }
    }));
    Ok(Some(tls))
}

/// Reads the certificate of `[api.tls]`.
///
/// # Errors
/// As [`api_listeners`].
pub(crate) fn read_own_certificate(files: &TlsFiles) -> Result<OwnCertificate> {
    let read = |path: &Path| read_file(path, MAX_SETTINGS_BYTES);
    OwnCertificate::open(&files.certificate, &files.key, read).context("[api.tls] cannot be used")
}

/// The certificates that are obtained. Nobody is asked yet.
///
/// # Errors
/// When their folder cannot be made, or `ca_file` cannot be read.
pub(crate) fn open_acme(config: &Config, section: &TlsSection) -> Result<AcmeCertificates> {
    let external = section.eab_key_id.clone().zip(section.eab_hmac_key.clone());
    let settings = AcmeSettings {
        domains: section.domains.clone(),
        email: section.email.clone(),
        directory: section.directory.clone(),
        ca_file: section.ca_file.clone(),
        external_account: external.map(|(key_id, key)| ExternalAccount { key_id, key }),
        folder: config.acme_folder(),
    };
    AcmeCertificates::open(settings).context("[selvedge.tls] cannot be used")
}
