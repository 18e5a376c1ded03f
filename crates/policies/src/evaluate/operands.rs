//! The parts of a policy's expression whose values explain its outcome.
//!
//! `pg_get_expr` puts every operation into parentheses, so a level of parentheses holds either conditions joined by AND
//! or OR, or one operation with its two sides. What cannot be taken apart is left whole, and what PostgreSQL cannot
//! evaluate on its own is left out of the report.

/// The number of operands that are evaluated of one expression.
const MAX_OPERANDS: usize = 24;

/// Lists the conditions of an expression and the sides of their comparisons, without literals and repetitions.
pub(crate) fn list_operands(expression: &str) -> Vec<String> {
    let mut found = Vec::new();
    collect(expression, true, &mut found);
    found.truncate(MAX_OPERANDS);
    found
}

fn collect(text: &str, is_whole: bool, found: &mut Vec<String>) {
    let text = strip_parentheses(text);
    let tokens = split_tokens(text);
    let is_word = |token: &&str, word: &str| token.eq_ignore_ascii_case(word);
    if let Some(joiner) = ["and", "or"]
        .into_iter()
        .find(|word| tokens.iter().any(|token| is_word(token, word)))
    {
        for part in split_at(text, &tokens, |token| token.eq_ignore_ascii_case(joiner)) {
            collect(part, false, found);
        }
        return;
    }
    if let Some(first) = tokens.first().filter(|token| is_word(token, "not")) {
        collect(&text[first.len()..], false, found);
        return;
    }
    // The whole expression's value is the verdict, which the report has already.
    if !is_whole {
        push(text, found);
    }
    let sides = split_at(text, &tokens, |token| {
        is_operator(token) || token.eq_ignore_ascii_case("is") || token.eq_ignore_ascii_case("like")
    });
    if sides.len() > 1 {
        push(sides[0], found);
        // `IS` is followed by words such as NULL or NOT DISTINCT FROM, which are not expressions.
        if tokens.iter().any(|token| is_operator(token)) {
            let right = sides[sides.len() - 1].trim();
            push(strip_any(right), found);
        }
    }
}

fn push(text: &str, found: &mut Vec<String>) {
    let text = strip_parentheses_unless_query(text.trim());
    if !is_literal(text) && !found.iter().any(|known| known == text) {
        found.push(text.to_owned());
    }
}

/// Returns the array of `ANY (array)` and `ALL (array)`; a subquery in its place returns several rows and has no single
/// value.
fn strip_any(text: &str) -> &str {
    for word in ["ANY", "ALL", "SOME"] {
        if let Some(rest) = text.strip_prefix(word).map(str::trim_start)
            && rest.starts_with('(')
        {
            let inner = strip_parentheses(rest);
            return if is_query(inner) { "NULL" } else { inner };
        }
    }
    text
}

fn is_operator(token: &str) -> bool {
    // A cast (::) belongs to its operand.
    token != "::" && token.chars().all(|char| "+-*/<>=~!@#%^&|`?:".contains(char))
}

/// Whether a text is a constant such as `'draft'::text`, `5` or `NULL::uuid`, whose value would explain nothing.
fn is_literal(text: &str) -> bool {
    let tokens = split_tokens(text);
    let Some(first) = tokens.first() else { return true };
    let constant = first.starts_with('\'')
        || first.starts_with(|char: char| char.is_ascii_digit())
        || ["null", "true", "false"]
            .iter()
            .any(|word| first.eq_ignore_ascii_case(word));
    constant && (tokens.len() == 1 || tokens[1] == "::")
}

fn is_query(text: &str) -> bool {
    let word: String = text
        .trim_start()
        .chars()
        .take_while(char::is_ascii_alphabetic)
        .collect();
    word.eq_ignore_ascii_case("select") || word.eq_ignore_ascii_case("with")
}

fn strip_parentheses_unless_query(text: &str) -> &str {
    let inner = strip_parentheses(text);
    if is_query(inner) { text } else { inner }
}

/// Removes parentheses that enclose the whole text.
fn strip_parentheses(text: &str) -> &str {
    let mut text = text.trim();
    while let [only] = split_tokens(text)[..]
        && only.starts_with('(')
        && only.ends_with(')')
        && !is_query(&only[1..only.len() - 1])
    {
        text = only[1..only.len() - 1].trim();
    }
    text
}

/// Returns the parts of `text` between the tokens that `separates` accepts.
fn split_at<'t>(text: &'t str, tokens: &[&'t str], separates: impl Fn(&str) -> bool) -> Vec<&'t str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    for token in tokens.iter().filter(|token| separates(token)) {
        let at = token.as_ptr() as usize - text.as_ptr() as usize;
        parts.push(&text[start..at]);
        start = at + token.len();
    }
    parts.push(&text[start..]);
    parts
}

/// Splits a text into words, operators, quoted texts and parenthesised groups, each of which is one token.
fn split_tokens(text: &str) -> Vec<&str> {
    let (bytes, mut tokens, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'(' | b'[' => at = skip_group(bytes, at),
            b'\'' | b'"' => at = skip_quoted(bytes, at),
            byte if is_operator_byte(byte) => {
                while at < bytes.len() && is_operator_byte(bytes[at]) {
                    at += 1;
                }
            }
            byte if is_word_byte(byte) => {
                while at < bytes.len() && is_word_byte(bytes[at]) {
                    at += 1;
                }
            }
            _ => at += 1,
        }
        tokens.push(&text[start..at]);
    }
    tokens
}

fn is_operator_byte(byte: u8) -> bool {
    b"+-*/<>=~!@#%^&|`?:".contains(&byte)
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.' || byte == b'$' || !byte.is_ascii()
}

/// Returns the position behind a quoted text; a doubled quote does not end it.
fn skip_quoted(bytes: &[u8], start: usize) -> usize {
    let (quote, mut at) = (bytes[start], start + 1);
    let escapes = quote == b'\'' && start > 0 && bytes[start - 1].eq_ignore_ascii_case(&b'E');
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes => at += 1,
            byte if byte == quote && bytes.get(at + 1) == Some(&quote) => at += 1,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn skip_group(bytes: &[u8], start: usize) -> usize {
    let (mut depth, mut at) = (0usize, start);
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' => depth += 1,
            b')' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            b'\'' | b'"' => {
                at = skip_quoted(bytes, at);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_080_operands_are_conditions_and_the_sides_of_comparisons() {
        for (expression, operands) in [
            ("(owner_id = auth.uid())", vec!["owner_id", "auth.uid()"]),
            (
                "((status = 'it''s (x'::text) OR ((a > 5) AND (NOT b)))",
                vec!["status = 'it''s (x'::text", "status", "a > 5", "a", "b"],
            ),
            ("true", vec![]),
            ("(id = ANY (ARRAY[1, 2]))", vec!["id", "ARRAY[1, 2]"]),
            (
                "((owner_id = ( SELECT auth.uid() AS uid)) AND (deleted_at IS NULL))",
                vec![
                    "owner_id = ( SELECT auth.uid() AS uid)",
                    "owner_id",
                    "( SELECT auth.uid() AS uid)",
                    "deleted_at IS NULL",
                    "deleted_at",
                ],
            ),
            ("(EXISTS ( SELECT 1 FROM m WHERE (m.id = notes.id)))", vec![]),
            ("((data ->> 'k'::text) = 'v'::text)", vec!["data ->> 'k'::text"]),
        ] {
            assert_eq!(list_operands(expression), operands, "{expression}");
        }
    }

    #[test]
    fn broken_expressions_do_not_stop_the_search_for_operands() {
        for text in ["((", "a = '", "\"", "", "))", "a AND", "E'\\"] {
            list_operands(text);
        }
    }
}
