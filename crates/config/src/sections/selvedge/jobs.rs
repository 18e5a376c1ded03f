//! `[selvedge.jobs]`: the workers behind the extensions pg_net and pg_cron, and behind a table of mails.

use std::time::Duration;

use selvedge_postgres::TableName;

use crate::reader::section::Section;

/// `[selvedge.jobs]`.
#[derive(Debug, Clone)]
pub struct JobsSection {
    /// Whether this node sends requests of pg_net and mails, and runs jobs of pg_cron. Default true.
    pub enabled: bool,
    /// Hosts that SQL may call although they are private. `serve` calls no other private address. Default: none.
    pub http_allowed_hosts: Vec<String>,
    /// How many requests of pg_net run at the same time. Default 50.
    pub http_parallel: usize,
    /// The longest time of a request; its `timeout_milliseconds` may only be shorter. Default 60s.
    pub http_timeout: Duration,
    /// The longest response in bytes. Default 10 MiB.
    pub http_response_size: usize,
    /// How long responses are kept. Default 6h.
    pub http_response_ttl: Duration,
    /// How many jobs of pg_cron run at the same time. Default 32.
    pub cron_parallel: usize,
    /// The project's table of mails, as `schema.table`; see docs/mails.md. Default: none.
    pub mail_table: Option<TableName>,
    /// The project's function that ends mails without a sign-in, as `schema.function`; see docs/mails.md. Default: none.
    pub unsubscribe: Option<TableName>,
    /// How many mails of that table this node sends in an hour. Default 1000.
    pub mails_per_hour: usize,
}

impl JobsSection {
    pub(super) fn read(section: &Section<'_>) -> Self {
        Self {
            enabled: section.bool("enabled", true),
            http_allowed_hosts: section.strings("http_allowed_hosts", &[]),
            http_parallel: section.integer("http_parallel", 50, 1..=1000),
            http_timeout: section.duration("http_timeout", Duration::from_secs(60)),
            http_response_size: usize::try_from(section.size("http_response_size", 10 * 1024 * 1024))
                .unwrap_or(usize::MAX),
            http_response_ttl: section.duration("http_response_ttl", Duration::from_secs(6 * 3600)),
            cron_parallel: section.integer("cron_parallel", 32, 1..=1000),
            mail_table: read_name(section, "mail_table", "schema.table"),
            unsubscribe: read_name(section, "unsubscribe", "schema.function"),
            mails_per_hour: section.integer("mails_per_hour", 1000, 1..=1_000_000),
        }
    }
}

fn read_name(section: &Section<'_>, key: &str, form: &str) -> Option<TableName> {
    let name = TableName::parse(&section.optional_string(key)?);
    if name.is_none() {
        section.report_error(key, &format!("must have the form {form}"));
    }
    name
}
