//! The globs of `additional_redirect_urls`: `*` and `?` (not across `.` or `/`), `**`, `[abc]`, `[!a-z]`, `{a,b}` and
//! `\` escapes.
//!
//! A glob is translated to a regular expression once, at start. The regex crate matches in time linear to the URL, so a
//! client cannot slow the server down with a crafted URL. Source: Auth contract §3.1.

use regex::Regex;

/// A compiled pattern that must match a whole URL.
#[derive(Debug, Clone)]
pub(crate) struct Glob {
    regex: Regex,
}

/// A pattern that cannot be parsed. The server refuses to start with it, because a skipped pattern would break sign-ins
/// later.
#[derive(Debug, thiserror::Error)]
#[error("redirect pattern {pattern:?}: {reason}")]
pub struct GlobError {
    /// The pattern as configured.
    pub pattern: String,
    /// What is wrong with the pattern.
    pub reason: String,
}

impl Glob {
    /// Compiles a pattern. Matching is case-sensitive.
    ///
    /// # Errors
    /// [`GlobError`] for an unclosed brace or bracket, a `\` at the end, or an invalid range such as `[z-a]`.
    pub(crate) fn new(pattern: &str) -> Result<Self, GlobError> {
        let error = |reason: String| GlobError {
            pattern: pattern.to_owned(),
            reason,
        };
        let expression = translate_to_regex(pattern).map_err(|reason| error(reason.to_owned()))?;
        let regex = Regex::new(&expression).map_err(|cause| error(cause.to_string()))?;
        Ok(Self { regex })
    }

    /// Whether the pattern matches the whole of `text`.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

/// Translates a glob to a regular expression for the whole URL (`\A…\z`). A `}` or `,` outside of braces stands for
/// itself.
fn translate_to_regex(pattern: &str) -> Result<String, &'static str> {
    let mut out = String::from(r"\A(?s:");
    let mut chars = pattern.chars().peekable();
    let mut depth = 0;
    while let Some(c) = chars.next() {
        match c {
            '*' if chars.next_if_eq(&'*').is_some() => out.push_str(".*"),
            // Excluding `.` and `/` keeps `https://*.example.com` from matching `https://evil.io/x.example.com`.
            '*' => out.push_str("[^./]*"),
            '?' => out.push_str("[^./]"),
            '[' => translate_character_class(&mut chars, &mut out)?,
            '{' => {
                depth += 1;
                out.push_str("(?:");
            }
            '}' if depth > 0 => {
                depth -= 1;
                out.push(')');
            }
            ',' if depth > 0 => out.push('|'),
            '\\' => out.push_str(&regex::escape(
                &chars.next().ok_or("nothing follows the last \\")?.to_string(),
            )),
            other => out.push_str(&regex::escape(&other.to_string())),
        }
    }
    if depth > 0 {
        return Err("\"{\" is not closed");
    }
    out.push_str(r")\z");
    Ok(out)
}

/// Translates `[…]` after its opening bracket. `!` or `^` at the start negates; a `]` at the start stands for itself.
fn translate_character_class(
    chars: &mut impl Iterator<Item = char>,
    out: &mut String,
) -> Result<(), &'static str> {
    out.push('[');
    let mut is_first = true;
    for c in chars {
        match c {
            ']' if !is_first => {
                out.push(']');
                return Ok(());
            }
            '!' | '^' if is_first => {
                out.push('^');
                continue;
            }
            '-' => out.push('-'),
            other => out.push_str(&regex::escape(&other.to_string())),
        }
        is_first = false;
    }
    Err("\"[\" is not closed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_029_star_stops_at_dots_and_slashes_and_double_star_does_not() {
        let cases = [
            ("http://localhost:8000/*", "http://localhost:8000/path", true),
            (
                "http://localhost:8000/*",
                "http://localhost:8000/path?param=1",
                true,
            ),
            ("http://localhost:8000/*", "http://localhost:8000/a/b", false),
            ("http://localhost:8000/*", "http://localhost:8000", false),
            ("https://*.example.com/**", "https://a.example.com/x/y?z=1", true),
            ("https://*.example.com/**", "https://a.b.example.com/x", false),
            ("https://*.example.com/**", "https://example.com.evil.io/", false),
            ("https://site", "http://site", false),
            ("myapp://**", "myapp://callback", true),
            ("https://{a,b}.example.com", "https://b.example.com", true),
            ("https://{a,b}.example.com", "https://c.example.com", false),
            ("https://[a-c].io", "https://b.io", true),
            ("https://[!a-c].io", "https://b.io", false),
            ("https://x.io/?", "https://x.io/a", true),
            ("https://x.io/\\*", "https://x.io/*", true),
            ("https://x.io/\\*", "https://x.io/a", false),
            ("HTTPS://X.io", "https://x.io", false),
        ];
        for (pattern, url, expected) in cases {
            assert_eq!(
                Glob::new(pattern).expect(pattern).matches(url),
                expected,
                "{pattern} on {url}"
            );
        }
    }

    #[test]
    fn unclosed_braces_brackets_and_escapes_are_errors() {
        for pattern in ["https://{a", "https://[a", "https://a\\"] {
            assert!(Glob::new(pattern).is_err(), "{pattern}");
        }
    }
}
