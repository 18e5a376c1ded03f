//! `If-…` headers of reads and of copy sources, as S3 ranks them: tags beat dates.

use actix_web::http::header::HttpDate;

use crate::asset::{Validators, seconds};

/// What the conditions decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Proceed,
    NotModified,
    Failed,
}

/// Decides about an object. `header` finds the conditions by their plain names (`if-match` …).
pub(super) fn decide<'h>(validators: &Validators, header: impl Fn(&str) -> Option<&'h str>) -> Verdict {
    let date = |name: &str| {
        header(name)
            .and_then(|text| text.parse::<HttpDate>().ok())
            .map(|date| seconds(date.into()))
    };
    let modified = validators.modified.map(seconds);
    if let Some(tags) = header("if-match") {
        if !matches(tags, &validators.etag) {
            return Verdict::Failed;
        }
    } else if let (Some(limit), Some(modified)) = (date("if-unmodified-since"), modified)
        && modified > limit
    {
        return Verdict::Failed;
    }
    if let Some(tags) = header("if-none-match") {
        if matches(tags, &validators.etag) {
            return Verdict::NotModified;
        }
    } else if let (Some(since), Some(modified)) = (date("if-modified-since"), modified)
        && modified <= since
    {
        return Verdict::NotModified;
    }
    Verdict::Proceed
}

/// Tags come with quotes, without, or as a list; a star is any.
fn matches(tags: &str, etag: &str) -> bool {
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
    fn conditions_are_ranked() {
        let validators = Validators {
            etag: "\"abc\"".to_owned(),
            modified: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)),
        };
        let (before, after) = ("Sat, 08 Sep 2001 00:00:00 GMT", "Mon, 10 Sep 2001 00:00:00 GMT");
        let cases: [(&[(&str, &str)], Verdict); 9] = [
            (&[], Verdict::Proceed),
            (&[("if-match", "abc")], Verdict::Proceed),
            (&[("if-match", "\"x\"")], Verdict::Failed),
            (
                &[("if-match", "abc"), ("if-unmodified-since", before)],
                Verdict::Proceed,
            ),
            (&[("if-unmodified-since", before)], Verdict::Failed),
            (&[("if-none-match", "\"x\", \"abc\"")], Verdict::NotModified),
            (
                &[("if-none-match", "\"x\""), ("if-modified-since", after)],
                Verdict::Proceed,
            ),
            (&[("if-modified-since", after)], Verdict::NotModified),
            (&[("if-modified-since", before)], Verdict::Proceed),
        ];
        for (headers, verdict) in cases {
            let header = |name: &str| headers.iter().find(|(found, _)| *found == name).map(|(_, v)| *v);
            assert_eq!(decide(&validators, header), verdict, "{headers:?}");
        }
    }
}
