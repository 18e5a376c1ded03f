//! Strings and property names as Prettier writes them.

/// The string literal for `text`: in double quotes, unless single ones need fewer escapes.
pub(super) fn string_literal(text: &str) -> String {
    let doubles = text.matches('"').count();
    let singles = text.matches('\'').count();
    let quote = if doubles > singles { '\'' } else { '"' };
    // JSON escapes backslashes and control characters as JavaScript does.
    let escaped = serde_json::Value::from(text).to_string();
    let inner = &escaped[1..escaped.len() - 1];
    let mut literal = String::from(quote);
    let mut letters = inner.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            // JSON escapes double quotes; between single ones they need none.
            '\\' if letters.peek() == Some(&'"') && quote == '\'' => {}
            '\\' => {
                literal.push('\\');
                literal.extend(letters.next());
            }
            '\'' if quote == '\'' => literal.push_str("\\'"),
            other => literal.push(other),
        }
    }
    literal.push(quote);
    literal
}

/// A property's name: bare when it is an identifier, else a string.
pub(super) fn property_key(name: &str) -> String {
    if is_identifier(name) {
        name.to_owned()
    } else {
        string_literal(name)
    }
}

/// Whether it is an ECMAScript 5 identifier, whose letters are in the basic multilingual plane.
fn is_identifier(name: &str) -> bool {
    let starts = |letter: char| matches!(letter, '$' | '_') || unicode_ident::is_xid_start(letter);
    let continues = |letter: char| starts(letter) || unicode_ident::is_xid_continue(letter);
    let is_basic = |letter: char| u32::from(letter) <= 0xffff;
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| starts(first) && is_basic(first))
        && letters.all(|letter| continues(letter) && is_basic(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_take_the_quotes_that_need_fewer_escapes() {
        assert_eq!(string_literal("plain"), r#""plain""#);
        assert_eq!(string_literal("it's"), r#""it's""#);
        assert_eq!(string_literal(r#"say "x""#), r#"'say "x"'"#);
        assert_eq!(string_literal(r#"it's "fine""#), r#"'it\'s "fine"'"#);
        assert_eq!(string_literal("back\\slash\n"), r#""back\\slash\n""#);
    }

    #[test]
    fn property_keys_are_quoted_when_they_are_no_identifiers() {
        for name in ["id", "class", "$dollar", "_under", "ünïcødé"] {
            assert_eq!(property_key(name), name);
        }
        for name in ["", "1st", "with space", "a-b", "𝒳"] {
            assert_eq!(property_key(name), format!("\"{name}\""));
        }
    }
}
