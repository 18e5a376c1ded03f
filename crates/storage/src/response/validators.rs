//! Entity tags and dates, and the conditional headers that are compared with them.

use std::time::SystemTime;

use actix_web::http::header::HttpDate;

use crate::context::RequestContext;
use crate::database::object_row::ObjectRow;

/// Entity tag and date of an object, with which a client compares its copy.
pub(crate) struct Validators {
    /// With its quotes; empty when the row has neither tag nor version.
    pub(crate) etag: String,
    pub(crate) modified: Option<SystemTime>,
}

impl Validators {
    /// Those of a download by our own routes. The tag tells the encoding, too: whoever uploads the same bytes again with the encoding
    /// that was missing must not be answered with the copy of a browser that has it without.
    pub(crate) fn of_download(row: &ObjectRow) -> Self {
        let validators = Self::from_object(row);
        let Some(encoding) = row.content_encoding() else {
            return validators;
        };
        let encoding = encoding.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        let etag = validators.etag.trim_matches('"');
        Self {
            etag: format!("\"{etag}-{encoding}\""),
            ..validators
        }
    }

    pub(crate) fn from_object(row: &ObjectRow) -> Self {
        let etag = row.etag().map(str::to_owned);
        Self {
            // Rows written by SQL have no tag. Their version changes whenever the bytes do, so it serves as the tag.
            etag: etag
                .or_else(|| row.version.as_ref().map(|version| format!("\"{version}\"")))
                .unwrap_or_default(),
            modified: row.last_modified().map(SystemTime::from),
        }
    }
}

/// The condition of a GET or HEAD. With If-None-Match, If-Modified-Since is ignored (RFC 9110 §13.2.2).
pub(super) enum CacheCondition {
    NoneMatch(String),
    ModifiedSince(SystemTime),
}

impl CacheCondition {
    /// The condition of a request, if it has one.
    pub(super) fn of_request(context: &RequestContext) -> Option<Self> {
        if let Some(tags) = context.header("if-none-match") {
            return Some(Self::NoneMatch(tags.to_owned()));
        }
        let date: HttpDate = context.header("if-modified-since")?.parse().ok()?;
        Some(Self::ModifiedSince(date.into()))
    }

    /// Whether the client's copy is current.
    pub(super) fn matches(&self, validators: &Validators) -> bool {
        match self {
            Self::NoneMatch(tags) => {
                tags.trim() == "*"
                    || tags.split(',').any(|tag| {
                        let tag = tag.trim();
                        tag.strip_prefix("W/").unwrap_or(tag) == validators.etag
                    })
            }
            // Compared in whole seconds, because an HTTP date has no fractions.
            Self::ModifiedSince(date) => validators
                .modified
                .is_some_and(|modified| unix_seconds(modified) <= unix_seconds(*date)),
        }
    }
}

/// Whole seconds since 1970: the precision of HTTP dates.
pub(crate) fn unix_seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_039_if_none_match_takes_lists_weak_tags_and_a_star() {
        let validators = Validators {
            etag: "\"abc\"".to_owned(),
            modified: None,
        };
        for (tags, expected) in [
            ("\"abc\"", true),
            ("\"x\", W/\"abc\"", true),
            ("*", true),
            ("abc", false),
            ("\"x\"", false),
        ] {
            assert_eq!(
                CacheCondition::NoneMatch(tags.to_owned()).matches(&validators),
                expected,
                "{tags}"
            );
        }
    }
}
