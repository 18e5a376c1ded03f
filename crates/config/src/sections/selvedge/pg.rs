//! `[selvedge.pg]`: the API of postgres-meta under `/pg`.

use std::time::Duration;

use crate::mode::Mode;
use crate::reader::section::Section;

/// `[selvedge.pg]`.
#[derive(Debug, Clone)]
pub struct PgSection {
    /// Whether `/pg` is served. Default: true in `start`, false in `serve`.
    pub enabled: Option<bool>,
    /// The time limit of a statement. Default 55s.
    pub statement_timeout: Duration,
    /// The largest body of a request in bytes. Default 3 MiB.
    pub body_size: usize,
    /// The most bytes in the result of a statement. Default 64 MiB.
    pub result_size: usize,
}

impl PgSection {
    /// Whether `/pg` is served by a command.
    pub fn is_served(&self, mode: Mode) -> bool {
        self.enabled.unwrap_or(mode == Mode::Development)
    }

    pub(super) fn read(section: &Section<'_>) -> Self {
        let size = |name, default| usize::try_from(section.size(name, default)).unwrap_or(usize::MAX);
        Self {
            enabled: section.optional_bool("enabled"),
            statement_timeout: section.duration("statement_timeout", Duration::from_secs(55)),
            body_size: size("body_size", 3 * 1024 * 1024),
            result_size: size("result_size", 64 * 1024 * 1024),
        }
    }
}
