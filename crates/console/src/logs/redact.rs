//! Takes keys and tokens out of texts before they are kept (CONSOLE-131).

use std::borrow::Cow;

/// The text that replaces a secret.
const REPLACEMENT: &str = "[removed]";
/// The number of characters after `eyJ` from which a text is taken for a token; every token is longer.
const SHORTEST_TOKEN: usize = 20;
/// Names whose value is left out, in the forms `name=value` and `name: value`.
const SECRET_NAMES: [&str; 6] = ["password", "token", "apikey", "secret", "code", "authorization"];

/// Removes keys, tokens, passwords and codes from a text. A text without any is returned without being copied.
pub(super) fn redact(text: &str) -> Cow<'_, str> {
    if !may_hold_secret(text) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(is_separator).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        clean.push_str(if is_secret(word) { REPLACEMENT } else { word });
        let separator_end = after.chars().next().map_or(0, char::len_utf8);
        clean.push_str(&after[..separator_end]);
        rest = &after[separator_end..];
        if after.starts_with(['=', ':']) && is_secret_name(word) {
            // The value goes up to the next separator, after blanks and a word such as Bearer.
            let value = rest.trim_start_matches([' ', '"']);
            let value = value.strip_prefix("Bearer ").unwrap_or(value);
            let end = value.find(is_separator).unwrap_or(value.len());
            clean.push_str(REPLACEMENT);
            rest = &value[end..];
        }
    }
    Cow::Owned(clean)
}

/// Tells whether the text may hold a secret. It looks for rare beginnings only, so that an ordinary path costs one pass
/// over its bytes.
fn may_hold_secret(text: &str) -> bool {
    let has_name = |name: &&str| {
        let name = name.as_bytes();
        text.as_bytes()
            .windows(name.len())
            .any(|window| window.eq_ignore_ascii_case(name))
    };
    text.contains("eyJ")
        || text.contains("sb_secret_")
        || (text.contains(['=', ':']) && SECRET_NAMES.iter().any(has_name))
}

fn is_separator(letter: char) -> bool {
    letter.is_whitespace()
        || matches!(
            letter,
            '/' | '&' | '?' | '=' | ':' | '"' | '\'' | ',' | ';' | '(' | ')'
        )
}

fn is_secret(word: &str) -> bool {
    (word.starts_with("eyJ") && word.len() > SHORTEST_TOKEN) || word.starts_with("sb_secret_")
}

fn is_secret_name(word: &str) -> bool {
    let word = word.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    SECRET_NAMES
        .iter()
        .any(|name| word.to_ascii_lowercase().ends_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_131_keys_tokens_passwords_and_codes_are_left_out() {
        for (text, clean) in [
            ("/rest/v1/notes", "/rest/v1/notes"),
            (
                "/hooks/eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYSJ9.c2ln",
                "/hooks/[removed]",
            ),
            ("key sb_secret_N7UND0 used", "key [removed] used"),
            (
                "cannot log in password=hunter2 user=ana",
                "cannot log in password=[removed] user=ana",
            ),
            (
                "authorization: Bearer abc.def next",
                "authorization:[removed] next",
            ),
            ("one_time_token=123456", "one_time_token=[removed]"),
        ] {
            assert_eq!(redact(text), clean);
        }
    }
}
