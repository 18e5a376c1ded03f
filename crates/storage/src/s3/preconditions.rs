//! The `If-…` headers of reads and of copy sources. With an entity tag, the date of the same kind is ignored (RFC 9110
//! §13.2.2).

use actix_web::http::header::HttpDate;

use crate::response::validators::{Validators, unix_seconds};

/// Outcome of If-Match, If-None-Match and the dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precondition {
    Proceed,
    NotModified,
    Failed,
}

/// Evaluates the conditions for an object. `header` finds a condition by its plain name (`if-match` …), because those
/// of copy sources have a prefix.
pub(super) fn evaluate_preconditions<'h>(
    validators: &Validators,
    header: impl Fn(&str) -> Option<&'h str>,
) -> Precondition {
    let date = |name: &str| {
        header(name)
            .and_then(|text| text.parse::<HttpDate>().ok())
            .map(|date| unix_seconds(date.into()))
    };
    let modified = validators.modified.map(unix_seconds);
    if let Some(tags) = header("if-match") {
        if !matches_tag(tags, &validators.etag) {
            return Precondition::Failed;
        }
    } else if let (Some(limit), Some(modified)) = (date("if-unmodified-since"), modified)
        && modified > limit
    {
        return Precondition::Failed;
    }
    if let Some(tags) = header("if-none-match") {
        if matches_tag(tags, &validators.etag) {
            return Precondition::NotModified;
        }
    } else if let (Some(since), Some(modified)) = (date("if-modified-since"), modified)
        && modified <= since
    {
        return Precondition::NotModified;
    }
    Precondition::Proceed
}

/// Whether a list of entity tags contains this one. Clients send tags with or without quotes; `*` matches any.
fn matches_tag(tags: &str, etag: &str) -> bool {
    tags.split(',').map(str::trim).any(|tag| {
        let tag = tag.strip_prefix("W/").unwrap_or(tag);
        tag == "*" || tag.trim_matches('"') == etag.trim_matches('"')
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn entity_tags_take_precedence_over_dates() {
        let validators = Validators {
            etag: "\"abc\"".to_owned(),
            modified: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)),
        };
        let (before, after) = ("Sat, 08 Sep 2001 00:00:00 GMT", "Mon, 10 Sep 2001 00:00:00 GMT");
        let cases: [(&[(&str, &str)], Precondition); 9] = [
            (&[], Precondition::Proceed),
            (&[("if-match", "abc")], Precondition::Proceed),
            (&[("if-match", "\"x\"")], Precondition::Failed),
            (
                &[("if-match", "abc"), ("if-unmodified-since", before)],
                Precondition::Proceed,
            ),
            (&[("if-unmodified-since", before)], Precondition::Failed),
            (&[("if-none-match", "\"x\", \"abc\"")], Precondition::NotModified),
            (
                &[("if-none-match", "\"x\""), ("if-modified-since", after)],
                Precondition::Proceed,
            ),
            (&[("if-modified-since", after)], Precondition::NotModified),
            (&[("if-modified-since", before)], Precondition::Proceed),
        ];
        for (headers, verdict) in cases {
            let header = |name: &str| headers.iter().find(|(found, _)| *found == name).map(|(_, v)| *v);
            assert_eq!(
                evaluate_preconditions(&validators, header),
                verdict,
                "{headers:?}"
            );
        }
    }
}
