//! Reads `[studio]`, the CLI's section, for the console of `start`, and `[selvedge.console]` for that of `serve`.

use std::net::SocketAddr;
use std::time::Duration;

use url::Url;

use crate::mode::Mode;
use crate::reader::section::Section;

/// The settings of the console in both sections.
#[derive(Debug, Clone)]
pub struct ConsoleSection {
    /// `[studio] enabled`: whether `start` serves the console. Default true.
    pub enabled_in_start: bool,
    /// `[studio] port`: the console's port in `start`. Default 54323.
    pub port: u16,
    /// Whether `serve` serves the console. Default false.
    pub enabled: bool,
    /// The address on which `serve` listens for it. Default `127.0.0.1:54323`.
    pub bind: SocketAddr,
    /// The address under which browsers reach it, with https. Required beyond loopback. Default: none.
    pub public_url: Option<Url>,
    /// Whether people sign in in `start`, too; in `serve` they always do. Default false.
    pub login: bool,
    /// Whether the console's own accounts may sign in: `sign_in` contains `accounts`. Default true.
    pub account_sign_in: bool,
    /// Whether users of the project may sign in: `sign_in` contains `project`. They need a console level in their `app_metadata` and
    /// a second factor. Default false.
    pub project_sign_in: bool,
    /// Whether all accounts are viewers. Default false.
    pub read_only: bool,
    /// Whether admins may change the schema in `serve`. Default false.
    pub schema_changes: bool,
    /// A session ends after this time without a request. Default 30m.
    pub idle: Duration,
    /// A session ends this long after the sign-in. Default 12h.
    pub lifetime: Duration,
    /// The time limit of a statement. Default 60s.
    pub statement_timeout: Duration,
}

impl ConsoleSection {
    /// Whether the console is served by a command.
    pub fn is_served(&self, mode: Mode) -> bool {
        match mode {
            Mode::Development => self.enabled_in_start,
            Mode::Production => self.enabled,
        }
    }

    pub(crate) fn read(studio: &Section<'_>, section: &Section<'_>) -> Self {
        // These keys of the CLI are for parts of Studio that the console does not have, or gets from elsewhere.
        studio.ignore(&["api_url", "openai_api_key", "pgmeta_url"]);
        let bind = section.optional_string("bind");
        let default_bind = SocketAddr::from(([127, 0, 0, 1], 54323));
        let parsed_bind = bind.as_deref().map(str::parse);
        if let Some(Err(_)) = parsed_bind {
            section.report_error("bind", "must be an address and a port, such as 127.0.0.1:54323");
        }
        let bind = parsed_bind.and_then(Result::ok).unwrap_or(default_bind);
        let sign_in = section.strings("sign_in", &["accounts"]);
        if sign_in.is_empty() || sign_in.iter().any(|way| way != "accounts" && way != "project") {
            section.report_error("sign_in", "must list \"accounts\", \"project\" or both");
        }
        let found = Self {
            enabled_in_start: studio.bool("enabled", true),
            port: studio.port("port", 54323),
            enabled: section.bool("enabled", false),
            bind,
            public_url: read_public_url(section),
            login: section.bool("login", false),
            account_sign_in: sign_in.iter().any(|way| way == "accounts"),
            project_sign_in: sign_in.iter().any(|way| way == "project"),
            read_only: section.bool("read_only", false),
            schema_changes: section.bool("schema_changes", false),
            idle: section.duration("idle", Duration::from_secs(30 * 60)),
            lifetime: section.duration("lifetime", Duration::from_secs(12 * 3600)),
            statement_timeout: section.duration("statement_timeout", Duration::from_secs(60)),
        };
        if found.enabled && !found.bind.ip().is_loopback() && found.public_url.is_none() {
            section.report_error("public_url", "is needed when bind is not a loopback address");
        }
        found
    }
}

fn read_public_url(section: &Section<'_>) -> Option<Url> {
    let text = section.optional_string("public_url")?;
    match Url::parse(&text) {
        Ok(url) if url.scheme() == "https" && url.path() == "/" && url.query().is_none() => Some(url),
        _ => {
            section.report_error("public_url", "must be an https address without a path");
            None
        }
    }
}
