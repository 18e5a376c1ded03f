//! `[selvedge.generator]`: generated pictures. See docs/generator.md.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use selvedge_http_client::WebhookKey;
use selvedge_postgres::TableName;

use crate::reader::section::Section;

/// `[selvedge.generator]`.
#[derive(Debug, Clone)]
pub struct GeneratorSection {
    /// The project's table of jobs, as `schema.table`. Setting it switches the generator on.
    pub table: TableName,
    /// HTTP endpoint that makes the pictures. Default: none, the built-in preview.
    pub url: Option<String>,
    /// Keys that sign the requests to `url`, from `secrets`: `v1,whsec_<base64>`, several separated by `|`.
    pub keys: Vec<WebhookKey>,
    /// Whether `url` may lead to an address of a private network. Default true in `start`, false in `serve`.
    pub private_addresses: Option<bool>,
    /// How many jobs a node works on at the same time. Default 2.
    pub parallel: usize,
    /// How long one attempt, or the answer of `url`, may take. Default 60s.
    pub attempt_timeout: Duration,
    /// How long `url` may take from its answer until the picture arrives. Default 12h.
    pub result_timeout: Duration,
    /// Pause before the second attempt; each further pause is four times as long. Default 30s.
    pub retry_pause: Duration,
    /// The largest picture that a generator may send. Default 10 MiB.
    pub picture_size: usize,
}

impl GeneratorSection {
    /// `None` without a `table`, as the other keys are then meaningless.
    pub(super) fn read(section: &Section<'_>) -> Option<Self> {
        let table = section.optional_string("table");
        let url = section.optional_string("url");
        let secrets = section.optional_secret("secrets");
        let found = Self {
            private_addresses: section.optional_bool("private_addresses"),
            parallel: section.integer("parallel", 2, 1..=64),
            attempt_timeout: section.duration("attempt_timeout", Duration::from_secs(60)),
            result_timeout: section.duration("result_timeout", Duration::from_secs(12 * 3600)),
            retry_pause: section.duration("retry_pause", Duration::from_secs(30)),
            picture_size: usize::try_from(section.size("picture_size", 10 * 1024 * 1024))
                .unwrap_or(usize::MAX),
            keys: read_keys(section, url.is_some(), secrets.as_ref()),
            table: read_table(section, &table?)?,
            url,
        };
        if let Some(url) = &found.url
            && !url.starts_with("https://")
            && !url.starts_with("http://")
        {
            section.report_error("url", "must be an http(s) URL");
        }
        Some(found)
    }
}

fn read_table(section: &Section<'_>, text: &str) -> Option<TableName> {
    let table = TableName::parse(text);
    if table.is_none() {
        section.report_error("table", "must have the form schema.table");
    }
    table
}

/// Reads the signing keys. An endpoint without one is refused, because it could not verify our requests.
fn read_keys(section: &Section<'_>, has_url: bool, secrets: Option<&SecretString>) -> Vec<WebhookKey> {
    let Some(secrets) = secrets else {
        if has_url {
            section.report_error("secrets", "is needed with a url");
        }
        return Vec::new();
    };
    let decode = |secret: &str| WebhookKey::decode(secret.trim().strip_prefix("v1,whsec_")?);
    let keys: Option<Vec<_>> = secrets.expose_secret().split('|').map(decode).collect();
    keys.unwrap_or_else(|| {
        section.report_error(
            "secrets",
            "must look like \"v1,whsec_<base64>\", several separated by \"|\"",
        );
        Vec::new()
    })
}
