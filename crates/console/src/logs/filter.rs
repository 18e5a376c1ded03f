//! The filters of `/api/logs` and of its tail; all that are given must hold.

use chrono::DateTime;
use serde::Deserialize;

use super::entry::Entry;
use crate::error::ConsoleError;

/// The filters as they stand in the query of the address.
#[derive(Debug, Default, Deserialize)]
pub(super) struct FilterQuery {
    service: Option<String>,
    status: Option<String>,
    path: Option<String>,
    user: Option<String>,
    min_ms: Option<f64>,
    request_id: Option<String>,
    from: Option<String>,
    to: Option<String>,
    pub(super) before: Option<u64>,
    pub(super) limit: Option<usize>,
}

/// The filters after parsing; `None` lets every entry pass.
#[derive(Debug, Default)]
pub(super) struct Filter {
    service: Option<String>,
    status: Option<(u16, u16)>,
    path: Option<String>,
    user: Option<String>,
    min_us: u32,
    request_id: Option<String>,
    from_ms: Option<i64>,
    to_ms: Option<i64>,
}

impl Filter {
    /// # Errors
    /// 422 for a status or time of another form.
    pub(super) fn parse(query: &FilterQuery) -> Result<Self, ConsoleError> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        Ok(Self {
            service: given(&query.service),
            status: given(&query.status).map(|text| parse_status(&text)).transpose()?,
            path: given(&query.path).map(|path| path.to_lowercase()),
            user: given(&query.user),
            min_us: query.min_ms.map_or(0, |ms| (ms * 1000.0) as u32),
            request_id: given(&query.request_id),
            from_ms: given(&query.from).map(|text| parse_time(&text)).transpose()?,
            to_ms: given(&query.to).map(|text| parse_time(&text)).transpose()?,
        })
    }

    pub(super) fn matches(&self, entry: &Entry) -> bool {
        let is = |wanted: &Option<String>, value: &str| wanted.as_ref().is_none_or(|wanted| wanted == value);
        // Numbers first, because they sort out most entries without looking at text.
        self.status
            .is_none_or(|(first, last)| (first..=last).contains(&entry.status))
            && entry.duration_us >= self.min_us
            && self.from_ms.is_none_or(|from| entry.time_ms >= from)
            && self.to_ms.is_none_or(|to| entry.time_ms <= to)
            && is(&self.service, entry.service)
            && is(&self.request_id, entry.request_id())
            && self.user.as_ref().is_none_or(|user| entry.user() == Some(user))
            && self
                .path
                .as_ref()
                .is_none_or(|part| entry.path().to_lowercase().contains(part))
    }
}

/// Parses a status such as `500`, or a class such as `4xx`, into a range of statuses.
fn parse_status(text: &str) -> Result<(u16, u16), ConsoleError> {
    let wrong = || ConsoleError::invalid("status is a number such as 404, or a class such as 4xx");
    if let Some(class) = text.strip_suffix("xx") {
        let class: u16 = class.parse().map_err(|_| wrong())?;
        return Ok((class * 100, class * 100 + 99));
    }
    let status = text.parse().map_err(|_| wrong())?;
    Ok((status, status))
}

fn parse_time(text: &str) -> Result<i64, ConsoleError> {
    DateTime::parse_from_rfc3339(text)
        .map(|time| time.timestamp_millis())
        .map_err(|_| ConsoleError::invalid("from and to are times such as 2026-11-23T19:00:00Z"))
}
