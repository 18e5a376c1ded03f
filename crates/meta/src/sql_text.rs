//! Writes values of a request as SQL: literals, quoted names, types.

use selvedge_postgres::{quote_identifier, quote_literal};
use serde_json::Value;

/// Writes a JSON value as an untyped SQL literal; an array becomes PostgreSQL's array text. Compat: as node-postgres does.
pub(crate) fn write_literal(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => quote_literal(&text.replace('\0', "")),
        Value::Array(items) => quote_literal(&write_array(items)),
        other => quote_literal(&other.to_string()),
    }
}

/// Writes PostgreSQL's text form of an array, such as `{"a","1",NULL}`.
fn write_array(items: &[Value]) -> String {
    let write_item = |item: &Value| match item {
        Value::Null => "NULL".to_owned(),
        Value::Array(items) => write_array(items),
        Value::String(text) => quote_element(text),
        other => quote_element(&other.to_string()),
    };
    let items: Vec<String> = items.iter().map(write_item).collect();
    format!("{{{}}}", items.join(","))
}

fn quote_element(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Writes the quoted name of an object in a schema.
pub(crate) fn qualify(schema: &str, name: &str) -> String {
    format!("{}.{}", quote_identifier(schema), quote_identifier(name))
}

/// Quotes names and joins them by commas.
pub(crate) fn join_identifiers<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(quote_identifier).collect();
    quoted.join(", ")
}

/// Quotes a role's name. `public` is written as the keyword PUBLIC, which stands for all roles.
pub(crate) fn write_role(name: &str) -> String {
    if name.eq_ignore_ascii_case("public") {
        "public".to_owned()
    } else {
        quote_identifier(name)
    }
}

/// Writes the names of roles as [`write_role`] does, joined by commas.
pub(crate) fn join_roles(names: &[String]) -> String {
    let roles: Vec<String> = names.iter().map(|name| write_role(name)).collect();
    roles.join(", ")
}

/// Writes a type. A bare name that SQL would fold or misread, such as `Mood`, is quoted; text with a dot, parenthesis, space or
/// quote, such as `numeric(10,2)` or `public.mood`, is taken as SQL.
pub(crate) fn write_type(text: &str) -> String {
    if let Some(element) = text.strip_suffix("[]") {
        return format!("{}[]", write_type(element));
    }
    let is_plain = |character: char| matches!(character, 'a'..='z' | '0'..='9' | '_');
    if text.contains(['.', '(', ' ', '"']) || text.chars().all(is_plain) {
        text.to_owned()
    } else {
        quote_identifier(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn quotes_in_values_are_escaped() {
        assert_eq!(write_literal(&json!("a'b\\c")), r"E'a''b\\c'");
        assert_eq!(
            write_literal(&json!(["a\"b", null, 1])),
            r#"E'{"a\\"b",NULL,"1"}'"#
        );
        assert_eq!(write_literal(&json!({ "a": "'" })), r#"'{"a":"''"}'"#);
        assert_eq!(write_literal(&json!(true)), "'true'");
    }

    #[test]
    fn write_type_quotes_bare_names_that_sql_would_fold() {
        for (text, expected) in [
            ("int4", "int4"),
            ("Mood[]", "\"Mood\"[]"),
            ("public.mood", "public.mood"),
            ("numeric(10,2)", "numeric(10,2)"),
            ("timestamp with time zone", "timestamp with time zone"),
        ] {
            assert_eq!(write_type(text), expected);
        }
    }
}
