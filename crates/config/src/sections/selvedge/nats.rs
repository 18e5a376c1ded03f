//! `[selvedge.nats]`: the message broker through which the nodes of a project reach each other.

use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;

use crate::reader::section::Section;

/// `[selvedge.nats]`.
#[derive(Debug, Clone)]
pub struct NatsSection {
    /// URLs of the servers, `nats://host:port` or `tls://host:port`. Setting them chooses the broker.
    pub servers: Vec<String>,
    /// User name, with `password`.
    pub user: Option<String>,
    /// The user's password.
    pub password: Option<SecretString>,
    /// A token, instead of a user.
    pub token: Option<SecretString>,
    /// A `.creds` file, relative to the project, instead of a user.
    pub credentials_file: Option<PathBuf>,
    /// PEM certificates that are trusted beside the machine's own, relative to the project.
    pub ca_file: Option<PathBuf>,
    /// First part of every subject; projects that share a broker need different ones. Default: the project's id.
    pub prefix: Option<String>,
    /// After this long a silent node's presence entries are removed. Default 30s.
    pub node_timeout: Duration,
}

impl NatsSection {
    /// `None` without `servers`, as the other keys are then meaningless.
    pub(super) fn read(section: &Section<'_>, project_folder: &Path) -> Option<Self> {
        let found = Self {
            servers: section.strings("servers", &[]),
            user: section.optional_string("user"),
            password: section.optional_secret("password"),
            token: section.optional_secret("token"),
            credentials_file: section.optional_path("credentials_file", project_folder),
            ca_file: section.optional_path("ca_file", project_folder),
            prefix: section.optional_string("prefix"),
            node_timeout: section.duration("node_timeout", Duration::from_secs(30)),
        };
        if found.servers.is_empty() {
            return None;
        }
        // Credentials in a URL would reach logs and error texts of the client.
        if found.servers.iter().any(|server| server.contains('@')) {
            section.report_error(
                "servers",
                "may not hold credentials: use user and password, or token",
            );
        }
        let ways = [
            found.user.is_some(),
            found.token.is_some(),
            found.credentials_file.is_some(),
        ];
        if ways.iter().filter(|is_set| **is_set).count() > 1 {
            section.report_error("user", "excludes token and credentials_file: set one of them");
        }
        if found.user.is_some() != found.password.is_some() {
            section.report_error("password", "belongs to user: set both or none");
        }
        let is_subject = |prefix: &String| {
            !prefix.is_empty()
                && prefix
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        if found.prefix.as_ref().is_some_and(|prefix| !is_subject(prefix)) {
            section.report_error("prefix", "may hold letters, digits, '-' and '_'");
        }
        if found.node_timeout < Duration::from_secs(1) {
            section.report_error("node_timeout", "must be at least 1s");
        }
        Some(found)
    }
}
