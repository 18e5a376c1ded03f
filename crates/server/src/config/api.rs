//! `[api]`: the HTTP address and what REST exposes.

use std::path::{Path, PathBuf};

use super::section::Section;

/// `[api]`.
#[derive(Debug, Clone)]
pub struct ApiConfig {
    /// Whether `/rest/v1` is served. Default true.
    pub enabled: bool,
    /// Port of the API (and of the site). Default 54321.
    pub port: u16,
    /// Schemas that REST exposes; the first one is the default. Default `public`, `graphql_public`.
    pub schemas: Vec<String>,
    /// Schemas added to the search path of every request. Default `public`, `extensions`.
    pub extra_search_path: Vec<String>,
    /// The most rows a read returns. Default 1000; 0 = no limit.
    pub max_rows: u64,
    /// The URL at which browsers and mails reach the API, when it is not `http://127.0.0.1:<port>`.
    pub external_url: Option<String>,
    /// Whether new tables of `public` are granted to the API roles. Unset or true: yes.
    pub auto_expose_new_tables: Option<bool>,
    /// `[api.tls]`: certificate and key (PEM) when HTTPS is on. Default off.
    pub tls: Option<TlsFiles>,
}

/// `[api.tls]`.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// Certificate chain, PEM, relative to the project.
    pub certificate: PathBuf,
    /// Private key, PEM, relative to the project.
    pub key: PathBuf,
}

impl ApiConfig {
    pub(super) fn read(section: &Section<'_>, project: &Path) -> Self {
        Self {
            enabled: section.enabled(true),
            port: section.port("port", 54321),
            schemas: schemas(section),
            extra_search_path: section.strings("extra_search_path", &["public", "extensions"]),
            max_rows: section.integer("max_rows", 1000, 0..=u64::from(u32::MAX)),
            external_url: section.optional_string("external_url"),
            auto_expose_new_tables: section.optional_bool("auto_expose_new_tables"),
            tls: tls(&section.section("tls"), project),
        }
    }
}

fn schemas(section: &Section<'_>) -> Vec<String> {
    let schemas = section.strings("schemas", &["public", "graphql_public"]);
    if schemas.is_empty() {
        section.refuse(
            "schemas",
            "is empty: name at least one schema to expose, for example [\"public\"]",
        );
    }
    schemas
}

fn tls(section: &Section<'_>, project: &Path) -> Option<TlsFiles> {
    let enabled = section.enabled(false);
    let certificate = section.optional_path("cert_path", project);
    let key = section.optional_path("key_path", project);
    match (enabled, certificate, key) {
        (false, ..) => None,
        (true, Some(certificate), Some(key)) => Some(TlsFiles { certificate, key }),
        (true, ..) => {
            section.refuse(
                "enabled",
                "is true, so cert_path and key_path must name a PEM certificate and key",
            );
            None
        }
    }
}
