//! The content type of an object: its grammar, and whether a browser may run scripts in a document of it.

/// Top-level types whose documents are pictures, sounds and fonts. Their subtypes run no scripts unless they are XML.
const INERT_KINDS: [&str; 4] = ["audio", "font", "image", "video"];

/// Further types that browsers show as text, hand to a viewer of their own, or only download.
const INERT_TYPES: [&str; 12] = [
    "application/gzip",
    "application/json",
    "application/msword",
    "application/octet-stream",
    // Browsers run its scripts inside their PDF viewer, and would not open the viewer in a sandbox.
    "application/pdf",
    "application/vnd.ms-excel",
    "application/wasm",
    "application/zip",
    "text/csv",
    "text/markdown",
    "text/plain",
    "text/vtt",
];

/// A content type by the grammar of RFC 9110 §8.3: `type/subtype`, then parameters.
///
/// A comma outside quotes is refused. Browsers read such a header as a list and take its last type (Fetch, "extract a MIME
/// type"), so `image/png;, image/svg+xml` would pass as a picture here and run as a document there. The exception is
/// `codecs`, whose names contain no slash, so that nothing behind such a comma is a type: browsers name their recordings
/// `video/webm;codecs=vp8,opus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContentType<'a> {
    text: &'a str,
    essence: &'a str,
}

impl<'a> ContentType<'a> {
    /// Parses a header's value; `None` when it is malformed.
    ///
    /// Compat: as in the original, parameters need no value, and their values any printable characters but quotes,
    /// commas and semicolons.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (essence, parameters) = match text.split_once(';') {
            Some((essence, parameters)) => (essence, Some(parameters)),
            None => (text, None),
        };
        let essence = essence.trim_end_matches(' ');
        let (kind, subtype) = essence.split_once('/')?;
        let is_legal = is_token(kind) && is_token(subtype) && parameters.is_none_or(are_parameters);
        is_legal.then_some(Self { text, essence })
    }

    /// `type/subtype` in the declared spelling.
    pub(crate) fn essence(&self) -> &'a str {
        self.essence
    }

    /// Whether browsers run no scripts in a document of this type. Unknown types count as active.
    pub(crate) fn is_inert(&self) -> bool {
        let essence = self.essence.to_ascii_lowercase();
        let is_media = essence
            .split_once('/')
            .is_some_and(|(kind, subtype)| INERT_KINDS.contains(&kind) && !is_markup(subtype));
        // Programs that split headers without regard to quotes would see two types. A type has a slash.
        let is_single = self.text.split(',').skip(1).all(|piece| !piece.contains('/'));
        is_single && (is_media || INERT_TYPES.contains(&essence.as_str()))
    }
}

/// Whether a subtype, in lower case, names a format of documents: `svg+xml`, `xhtml+xml`, `vnd.mozilla.apng` is none.
fn is_markup(subtype: &str) -> bool {
    ["+", "xml", "svg", "html", "xsl"]
        .iter()
        .any(|part| subtype.contains(part))
}

fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// Whether the text after the first semicolon is a list of parameters.
fn are_parameters(mut text: &str) -> bool {
    loop {
        text = text.trim_start_matches(' ');
        let name_end = text.find(['=', ';', ' ']).unwrap_or(text.len());
        let (name, rest) = text.split_at(name_end);
        // A semicolon may be followed by nothing, as in `text/plain;`.
        if !name.is_empty() && !is_token(name) {
            return false;
        }
        let rest = match rest.strip_prefix('=') {
            Some(value) => match skip_value(name, value) {
                Some(rest) if !name.is_empty() => rest,
                _ => return false,
            },
            None => rest,
        };
        text = match rest.trim_start_matches(' ').strip_prefix(';') {
            Some(next) => next,
            None => return rest.trim_start_matches(' ').is_empty(),
        };
    }
}

/// The text behind the value of the parameter `name`, quoted or not; `None` when the value is malformed.
fn skip_value<'a>(name: &str, text: &'a str) -> Option<&'a str> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(';').unwrap_or(text.len());
        let (value, rest) = text.split_at(end);
        let refused = if name.eq_ignore_ascii_case("codecs") {
            "\"\\/"
        } else {
            "\",\\"
        };
        let is_plain = value
            .chars()
            .all(|c| matches!(c, ' '..='~') && !refused.contains(c));
        return is_plain.then_some(rest);
    };
    let mut is_escaped = false;
    for (at, c) in quoted.char_indices() {
        match c {
            _ if c.is_control() => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return Some(&quoted[at + 1..]),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_033_content_types_have_one_essence_and_parameters() {
        for (good, essence) in [
            ("text/plain", "text/plain"),
            ("text/plain; charset", "text/plain"),
            ("text/plain;", "text/plain"),
            ("text/plain ; a=b; c=\"d;e, \\\" f\" ;g", "text/plain"),
            ("Application/X-Odd; Param=One", "Application/X-Odd"),
            (
                "multipart/form-data; boundary=----x'()+_./:=?y z",
                "multipart/form-data",
            ),
            ("image/svg+xml", "image/svg+xml"),
            ("video/webm;codecs=vp8,opus", "video/webm"),
            ("video/mp4; codecs=avc1.42E01E, mp4a.40.2", "video/mp4"),
            ("video/webm;codecs=\"vp8,opus\"", "video/webm"),
        ] {
            let parsed = ContentType::parse(good).map(|parsed| parsed.essence());
            assert_eq!(parsed, Some(essence), "{good}");
        }
        for bad in [
            "",
            "noslash",
            "x/text/html",
            "text/plain;\tq=1",
            "a b/c",
            "image/png,",
            "image/png, image/svg+xml",
            "image/png;, image/svg+xml",
            "image/png;,TEXT/HTML",
            "image/png; a=b, text/xsl",
            "image/png; a=b c, text/xsl",
            "image/png; a=\"b, text/html",
            "image/png; a=\"b\", text/html",
            "image/png; a=\"b\\\", text/html",
            "image/png; a=b\"c, d\"",
            "image/png; a=\"b\"c",
            "image/png; =b",
            "video/webm;codecs=vp8,text/html",
            "video/webm;codecs=vp8;,text/html",
            "video/webm;codec=vp8,opus",
            "image/png; ä=b",
            "image/png\r\nx: y",
        ] {
            assert_eq!(ContentType::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn store_037_only_types_without_scripts_are_inert() {
        for inert in [
            "image/png",
            "IMAGE/PNG; q=1",
            "image/x-icon",
            "image/vnd.mozilla.apng",
            "video/mp4",
            "audio/mpeg",
            "font/woff2",
            "application/pdf",
            "application/octet-stream",
            "text/plain; charset=utf-8",
            "video/webm;codecs=vp8,opus",
            "video/webm; codecs=\"vp8, opus\"",
        ] {
            assert!(ContentType::parse(inert).expect("valid").is_inert(), "{inert}");
        }
        for active in [
            "image/svg+xml",
            "IMAGE/SVG+XML",
            "image/svg",
            "video/x+xml",
            "image/png; a=\",text/html\"",
            "text/html",
            "TEXT/HTML",
            "text/xml",
            "text/xsl",
            "text/rdf",
            "text/cache-manifest",
            "text/javascript",
            "application/javascript",
            "application/xhtml+xml",
            "application/mathml+xml",
            "application/x-shockwave-flash",
            "application/vnd.wap.xhtml+xml",
            "multipart/x-mixed-replace; boundary=b",
            "multipart/related",
            "message/rfc822",
            "model/x3d+xml",
            "unknown/unknown",
        ] {
            assert!(!ContentType::parse(active).expect("valid").is_inert(), "{active}");
        }
    }
}
