//! SQL types, defaults and comments in the terms of Swagger.

use serde_json::{Map, Value, json};

/// Media types of rows, in requests and responses.
pub(super) const ROW_TYPES: [&str; 4] = [
    "application/json",
    "application/vnd.pgrst.object+json;nulls=stripped",
    "application/vnd.pgrst.object+json",
    "text/csv",
];

/// `type`, `format` and `items` of an SQL type.
pub(super) fn type_of(sql_type: &str) -> Map<String, Value> {
    let mut described = Map::from_iter([("format".to_owned(), json!(format_of(sql_type)))]);
    if let Some(name) = type_name(sql_type) {
        described.insert("type".to_owned(), json!(name));
    }
    if let Some(element) = sql_type.strip_suffix("[]") {
        let items = type_name(element).map_or_else(|| json!({}), |name| json!({ "type": name }));
        described.insert("items".to_owned(), items);
    }
    described
}

/// The JSON type; json and jsonb have none, because their values can be of any.
pub(super) fn type_name(sql_type: &str) -> Option<&'static str> {
    Some(match sql_type {
        "boolean" => "boolean",
        "smallint" | "integer" | "bigint" => "integer",
        "numeric" | "real" | "double precision" => "number",
        // Swagger reads a missing type as any type.
        "json" | "jsonb" => return None,
        other if other.ends_with("[]") => "array",
        _ => "string",
    })
}

/// `format`: the SQL type, or the width of an integer as Swagger calls it.
pub(super) fn format_of(sql_type: &str) -> &str {
    match sql_type {
        "smallint" | "integer" => "int32",
        "bigint" => "int64",
        other => other,
    }
}

/// A default as a JSON value, where its SQL reads as one. Compat: a string's expression may pass for a constant.
pub(super) fn default_value(sql_type: &str, default: &str) -> Option<Value> {
    // `'x'::text`: the cast and the quotes are taken off.
    if type_name(sql_type) == Some("string") {
        let text = match default
            .strip_suffix(sql_type)
            .and_then(|rest| rest.strip_suffix("::"))
        {
            Some(constant) => constant.trim_matches('\''),
            None => default,
        };
        serde_json::from_str(&format!("\"{text}\"")).ok()
    } else {
        serde_json::from_str(default).ok()
    }
}

/// Sets `description`, if there is one.
pub(super) fn add_description(object: &mut Map<String, Value>, description: Option<&str>) {
    if let Some(description) = description {
        object.insert("description".to_owned(), json!(description));
    }
}

/// The first line of a comment, and the rest without the blank lines between.
pub(super) fn split_comment(comment: &str) -> (&str, &str) {
    let (first, rest) = comment.split_once('\n').unwrap_or((comment, ""));
    (first, rest.trim_start_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_118_types_map_to_json_types_and_formats() {
        for (sql_type, expected) in [
            ("bigint", json!({ "format": "int64", "type": "integer" })),
            ("jsonb", json!({ "format": "jsonb" })),
            (
                "text[]",
                json!({ "format": "text[]", "type": "array", "items": { "type": "string" } }),
            ),
            ("uuid", json!({ "format": "uuid", "type": "string" })),
        ] {
            assert_eq!(Value::Object(type_of(sql_type)), expected);
        }
    }

    #[test]
    fn rest_118_defaults_that_are_json_values_are_shown() {
        for (sql_type, default, expected) in [
            ("integer", "0", Some(json!(0))),
            ("integer", "nextval('s'::regclass)", None),
            ("text", "'x'::text", Some(json!("x"))),
            ("uuid", "gen_random_uuid()", Some(json!("gen_random_uuid()"))),
            ("boolean", "true", Some(json!(true))),
        ] {
            assert_eq!(default_value(sql_type, default), expected, "{default}");
        }
    }
}
