//! The filter language of a binding: `id=eq.5`, `name=in.(a,"b,c"),done=not.is.true`.
//!
//! Grammar (Realtime contract §11.4): segments joined by commas, all of which must hold; a segment is
//! `column=[not.]operator.value`. Commas inside parentheses or double quotes do not separate segments.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

/// One condition on a column.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Filter {
    pub(crate) column: String,
    pub(crate) operator: Operator,
    /// The operand; for [`Operator::In`] a PostgreSQL array literal such as `{a,"b,c"}`.
    pub(crate) value: String,
    pub(crate) is_negated: bool,
}

/// The operator of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Operator {
    Eq,
    Neq,
    Lt,
    Lte,
    Gt,
    Gte,
    In,
    Like,
    Ilike,
    Is,
    Match,
    Imatch,
    IsDistinct,
}

impl Operator {
    /// The operator with this name on the wire.
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "eq" => Self::Eq,
            "neq" => Self::Neq,
            "lt" => Self::Lt,
            "lte" => Self::Lte,
            "gt" => Self::Gt,
            "gte" => Self::Gte,
            "in" => Self::In,
            "like" => Self::Like,
            "ilike" => Self::Ilike,
            "is" => Self::Is,
            "match" => Self::Match,
            "imatch" => Self::Imatch,
            "isdistinct" => Self::IsDistinct,
            _ => return None,
        })
    }

    /// The name on the wire and in the type `realtime.equality_op`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Neq => "neq",
            Self::Lt => "lt",
            Self::Lte => "lte",
            Self::Gt => "gt",
            Self::Gte => "gte",
            Self::In => "in",
            Self::Like => "like",
            Self::Ilike => "ilike",
            Self::Is => "is",
            Self::Match => "match",
            Self::Imatch => "imatch",
            Self::IsDistinct => "isdistinct",
        }
    }
}

/// Parses a binding's `filter`. Blank text means no filter.
///
/// # Errors
/// The text that the client is shown after ``Error parsing `filter` params: ``.
pub(crate) fn parse_filters(text: &str) -> Result<Vec<Filter>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    split_segments(text).into_iter().map(parse_segment).collect()
}

/// Splits at commas outside of parentheses and quotes.
fn split_segments(text: &str) -> Vec<&str> {
    let mut segments = Vec::new();
    let (mut start, mut depth, mut in_quotes, mut is_escaped) = (0, 0_usize, false, false);
    let mut previous = ' ';
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if in_quotes => is_escaped = true,
            '"' if in_quotes => in_quotes = false,
            // A quote elsewhere than at the start of a value is an ordinary character.
            '"' if matches!(previous, '.' | '(' | ',') => in_quotes = true,
            '(' if !in_quotes => depth += 1,
            ')' if !in_quotes => depth = depth.saturating_sub(1),
            ',' if !in_quotes && depth == 0 => {
                segments.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
        previous = character;
    }
    segments.push(text.get(start..).unwrap_or_default());
    segments
}

/// Parses `column=[not.]operator.value`. The texts of the errors are those of the upstream service.
fn parse_segment(segment: &str) -> Result<Filter, String> {
    let segment = segment.trim();
    if segment.is_empty() {
        return Err("filter must not contain empty segments (check for extra commas)".to_owned());
    }
    let (column, condition) = segment
        .split_once('=')
        .ok_or_else(|| format!("[{}]", inspect_text(segment)))?;
    let (is_negated, condition) = match condition.strip_prefix("not.") {
        Some(rest) => (true, rest),
        None => (false, condition),
    };
    let (name, value) = condition
        .split_once('.')
        .ok_or_else(|| format!("[{}]", inspect_text(condition)))?;
    let operator =
        Operator::parse(name).ok_or_else(|| format!("[{}, {}]", inspect_text(name), inspect_text(value)))?;
    let value = match operator {
        Operator::In => {
            let list = value
                .strip_prefix('(')
                .and_then(|list| list.strip_suffix(')'))
                .ok_or("`in` filter value must be wrapped by parentheses")?;
            format!("{{{list}}}")
        }
        _ => unquote(value),
    };
    Ok(Filter {
        column: column.to_owned(),
        operator,
        value,
        is_negated,
    })
}

/// Removes the quotes of a value that is quoted as a whole, and the backslashes of its escapes. A doubled quote inside
/// is not an escape, so such a value stays as written.
fn unquote(value: &str) -> String {
    let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    let Some(inner) = inner else {
        return value.to_owned();
    };
    let mut out = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped) => out.push(escaped),
                // The last quote is escaped, so it does not close the value: the value is not quoted as a whole.
                None => return value.to_owned(),
            },
            '"' => return value.to_owned(),
            other => out.push(other),
        }
    }
    out
}

/// A text as error messages show it: in quotes, with `"`, `\` and line ends escaped.
///
/// Compat: the original prints Elixir terms, and tests of clients compare them.
pub(crate) fn inspect_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// A JSON value as error messages show it: `%{"table" => "t", "filter" => nil}`, with the keys in order.
pub(crate) fn inspect_json(value: &Value) -> String {
    match value {
        Value::Null => "nil".to_owned(),
        Value::String(text) => inspect_text(text),
        Value::Array(list) => format!(
            "[{}]",
            list.iter().map(inspect_json).collect::<Vec<_>>().join(", ")
        ),
        Value::Object(map) => {
            let sorted: BTreeMap<&String, &Value> = map.iter().collect();
            let pairs = sorted
                .into_iter()
                .map(|(key, value)| format!("{} => {}", inspect_text(key), inspect_json(value)));
            format!("%{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Filters as the error messages print them: `[{"id", "eq", "5", false}]`.
pub(crate) fn inspect_filters(filters: &[Filter]) -> String {
    let mut out = String::from("[");
    for (index, filter) in filters.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        write!(
            out,
            "{separator}{{{}, \"{}\", {}, {}}}",
            inspect_text(&filter.column),
            filter.operator.name(),
            inspect_text(&filter.value),
            filter.is_negated
        )
        .expect("writing to a string cannot fail");
    }
    out.push(']');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> Vec<(String, &'static str, String, bool)> {
        parse_filters(text)
            .expect("a valid filter")
            .into_iter()
            .map(|filter| {
                (
                    filter.column,
                    filter.operator.name(),
                    filter.value,
                    filter.is_negated,
                )
            })
            .collect()
    }

    fn one(text: &str) -> (String, &'static str, String, bool) {
        parsed(text).pop().expect("one filter")
    }

    #[test]
    fn realtime_034_filters_split_at_commas_outside_of_quotes_and_parentheses() {
        assert_eq!(
            parsed(r#"id=gt.1,name=in.(a,"b,c"),t=eq."x,y""#),
            [
                ("id".into(), "gt", "1".into(), false),
                ("name".into(), "in", r#"{a,"b,c"}"#.into(), false),
                ("t".into(), "eq", "x,y".into(), false),
            ]
        );
    }

    #[test]
    fn realtime_034_values_may_contain_separators_and_escapes() {
        assert_eq!(one("t=eq.a=b").2, "a=b");
        assert_eq!(one("t=eq.a.b").2, "a.b");
        assert_eq!(one(" t=eq.10 ").2, "10");
        assert_eq!(one(r#"t=eq."a\"b""#).2, r#"a"b"#);
        assert_eq!(one(r#"t=eq."a""b""#).2, r#""a""b""#);
        assert_eq!(one(r#"t=eq."x"#).2, r#""x"#);
        assert_eq!(one(r#"t=eq.a"b"#).2, r#"a"b"#);
    }

    #[test]
    fn realtime_034_not_negates_any_operator() {
        assert_eq!(
            one("done=not.is.null"),
            ("done".into(), "is", "null".into(), true)
        );
    }

    #[test]
    fn realtime_037_parse_errors_have_upstream_texts() {
        for (text, error) in [
            ("id=foo.hey", r#"["foo", "hey"]"#),
            ("id=not.foo.1", r#"["foo", "1"]"#),
            ("undefined", r#"["undefined"]"#),
            ("id=in.1,2", "`in` filter value must be wrapped by parentheses"),
            (
                "id=eq.1,,a=eq.2",
                "filter must not contain empty segments (check for extra commas)",
            ),
        ] {
            assert_eq!(parse_filters(text), Err(error.to_owned()), "{text}");
        }
        assert_eq!(parse_filters("  "), Ok(Vec::new()));
    }

    #[test]
    fn realtime_037_inspect_prints_filters_as_upstream_does() {
        let filters = parse_filters(r#"id=eq.5,n=not.eq."a\"b""#).expect("valid");

        assert_eq!(
            inspect_filters(&filters),
            r#"[{"id", "eq", "5", false}, {"n", "eq", "a\"b", true}]"#
        );
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "\\PC{0,40}") {
            let _parsed = parse_filters(&text);
        }
    }
}
