//! `[api]`: the address of the API, and what the REST service exposes.

use std::path::{Path, PathBuf};

use crate::reader::section::Section;

/// `[api]`.
#[derive(Debug, Clone)]
pub struct ApiConfig {
    /// Whether `/rest/v1` is served. Default true.
    pub enabled: bool,
    /// Port of the API (and of the site). Default 54321.
    pub port: u16,
    /// Schemas that REST exposes; the first one is the default. Default `public`, `graphql_public`.
    pub schemas: Vec<String>,
    /// Schemas added to the `search_path` of every request. Default `public`, `extensions`.
    pub extra_search_path: Vec<String>,
    /// The maximum number of rows that a read returns. Default 1000; 0 means no limit.
    pub max_rows: u64,
    /// The URL at which browsers and mails reach the API, when it is not `http://127.0.0.1:<port>`.
    pub external_url: Option<String>,
    /// Whether new tables of `public` are granted to the API roles. Not set means true.
    pub auto_expose_new_tables: Option<bool>,
    /// `[api.tls]`: certificate and key when HTTPS is switched on. Default: off.
    pub tls: Option<TlsFiles>,
}

/// `[api.tls]`.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// PEM file with the certificate chain.
    pub certificate: PathBuf,
    /// PEM file with the private key.
    pub key: PathBuf,
}

impl ApiConfig {
    pub(crate) fn read(section: &Section<'_>, project: &Path) -> Self {
        Self {
            enabled: section.is_enabled(true),
            port: section.port("port", 54321),
            schemas: read_schemas(section),
            extra_search_path: section.strings("extra_search_path", &["public", "extensions"]),
            max_rows: section.integer("max_rows", 1000, 0..=u64::from(u32::MAX)),
            external_url: section.optional_string("external_url"),
            auto_expose_new_tables: section.optional_bool("auto_expose_new_tables"),
            tls: read_tls(&section.section("tls"), project),
        }
    }
}

fn read_schemas(section: &Section<'_>) -> Vec<String> {
    let schemas = section.strings("schemas", &["public", "graphql_public"]);
    if schemas.is_empty() {
        // Compat: PostgREST, which gets an empty text from the CLI, exposes `public` then.
        return vec!["public".to_owned()];
    }
    schemas
}

fn read_tls(section: &Section<'_>, project: &Path) -> Option<TlsFiles> {
    let enabled = section.is_enabled(false);
    let certificate = section.optional_path("cert_path", project);
    let key = section.optional_path("key_path", project);
    match (enabled, certificate, key) {
        (false, ..) => None,
        (true, Some(certificate), Some(key)) => Some(TlsFiles { certificate, key }),
        (true, ..) => {
            section.report_error(
                "enabled",
                "is true, so cert_path and key_path must name a PEM certificate and key",
            );
            None
        }
    }
}
