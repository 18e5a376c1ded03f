//! Escapes a value for its place in an HTML document, as Go's `html/template` does.

/// What Go writes in place of a value that is not safe where it stands.
pub(super) const UNSAFE: &str = "ZgotmplZ";

/// Attributes whose value is an address. Go also takes those whose names contain `src`, `uri` or `url`.
const ADDRESS_ATTRIBUTES: [&str; 16] = [
    "action",
    "archive",
    "background",
    "cite",
    "classid",
    "codebase",
    "data",
    "formaction",
    "href",
    "icon",
    "longdesc",
    "manifest",
    "ping",
    "poster",
    "profile",
    "usemap",
];

/// What the value of an attribute is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Address,
    Style,
    Script,
}

/// What an attribute's value is.
pub(super) fn kind_of(name: &str) -> Kind {
    let name = name.strip_prefix("data-").unwrap_or(name);
    if name.starts_with("xmlns") {
        return Kind::Address;
    }
    let name = name.rsplit(':').next().unwrap_or(name);
    if name.starts_with("on") {
        return Kind::Script;
    }
    if name == "style" {
        return Kind::Style;
    }
    let is_address =
        ADDRESS_ATTRIBUTES.contains(&name) || ["src", "uri", "url"].iter().any(|part| name.contains(part));
    if is_address { Kind::Address } else { Kind::Plain }
}

/// Whether an address has no scheme, or one that runs nothing.
pub(super) fn has_safe_scheme(address: &str) -> bool {
    match address.split_once(':') {
        Some((scheme, _)) if !scheme.contains('/') => ["http", "https", "mailto"]
            .iter()
            .any(|safe| scheme.eq_ignore_ascii_case(safe)),
        _ => true,
    }
}

/// Encodes a part of an address. With `keeps_reserved`, characters that separate its parts, and what is encoded already, stay.
pub(super) fn encode_address(text: &str, keeps_reserved: bool, out: &mut String) {
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let is_kept = match byte {
            b'-' | b'.' | b'_' | b'~' => true,
            b'!' | b'#' | b'$' | b'&' | b'*' | b'+' | b',' | b'/' | b':' | b';' | b'=' | b'?' | b'@'
            | b'[' | b']' => keeps_reserved,
            b'%' => {
                let digits = bytes.get(at + 1..at + 3);
                keeps_reserved && digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            }
            other => other.is_ascii_alphanumeric(),
        };
        if is_kept {
            out.push(char::from(*byte));
        } else {
            out.push_str(&format!("%{byte:02x}"));
        }
    }
}

/// Writes text with the entities of Go's `html/template`, so that a value can end neither its element nor its
/// attribute.
pub(super) fn escape_html(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '\0' => out.push('\u{fffd}'),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
}

/// Writes the value of an attribute without quotes, which a space would end.
pub(super) fn escape_unquoted(text: &str, out: &mut String) {
    if text.is_empty() {
        // Otherwise the next attribute would become the value.
        return out.push_str(UNSAFE);
    }
    for character in text.chars() {
        match character {
            '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | ' ' | '=' | '`' => {
                out.push_str(&format!("&#{};", u32::from(character)));
            }
            other => escape_html(other.encode_utf8(&mut [0; 4]), out),
        }
    }
}

/// Writes a value into a script, inside of quotes or not: everything but letters and digits by its number.
pub(super) fn escape_script(text: &str, out: &mut String) {
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\u{unit:04x}")),
        }
    }
}

/// A value of a style, if it is one word or number that can do nothing.
pub(super) fn filter_style(value: &str) -> &str {
    let is_safe = |character: char| character.is_ascii_alphanumeric() || " #%.,+-_".contains(character);
    let lower = value.to_ascii_lowercase();
    let is_expression = lower.contains("expression") || lower.contains("mozbinding");
    match value.chars().all(is_safe) && !is_expression {
        true => value,
        false => UNSAFE,
    }
}

/// A value in the place of a name, if it is the name of a harmless attribute.
pub(super) fn filter_name(value: &str) -> &str {
    let is_name = !value.is_empty()
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    match is_name && kind_of(&value.to_ascii_lowercase()) == Kind::Plain {
        true => value,
        false => UNSAFE,
    }
}
