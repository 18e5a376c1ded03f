//! Reads the lists of REST's `in` operator: `(1,2,"a,b")`.

/// Splits a list into its values. Quotes hold a value with commas together; inside of them a backslash takes the next
/// character as it is.
pub(super) fn parse_list(text: &str) -> Vec<String> {
    let text = text.trim();
    let inner = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        .unwrap_or(text);
    let mut values = Vec::new();
    let mut value = String::new();
    let mut is_quoted = false;
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => is_quoted = !is_quoted,
            '\\' if is_quoted => value.extend(characters.next()),
            ',' if !is_quoted => values.push(std::mem::take(&mut value)),
            other => value.push(other),
        }
    }
    if !inner.is_empty() {
        values.push(value);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_at_commas_outside_of_quotes() {
        for (text, values) in [
            ("(1,2)", vec!["1", "2"]),
            ("a", vec!["a"]),
            (r#"("a,b","c\"d",)"#, vec!["a,b", "c\"d", ""]),
            ("()", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(parse_list(text), values, "{text}");
        }
    }
}
