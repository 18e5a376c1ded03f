//! `[selvedge.telemetry]`: the collector to which traces of requests are sent.

use crate::reader::section::Section;

/// `[selvedge.telemetry]`.
#[derive(Debug, Clone)]
pub struct TelemetrySection {
    /// Base URL of a collector that takes OTLP over HTTP, such as `http://collector:4318`. Default: none, no traces.
    pub endpoint: Option<String>,
}

impl TelemetrySection {
    pub(super) fn read(section: &Section<'_>) -> Self {
        let found = Self {
            endpoint: section.optional_string("endpoint"),
        };
        let is_http = |url: &String| url.starts_with("http://") || url.starts_with("https://");
        if found.endpoint.as_ref().is_some_and(|url| !is_http(url)) {
            section.report_error("endpoint", "must be an http:// or https:// URL");
        }
        found
    }
}
