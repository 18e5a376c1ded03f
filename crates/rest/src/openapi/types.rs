//! SQL types and defaults as Swagger has them.

use serde_json::{Map, Value, json};

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

/// The JSON type; json and jsonb have none, because they can be anything.
pub(super) fn type_name(sql_type: &str) -> Option<&'static str> {
    Some(match sql_type {
        "boolean" => "boolean",
        "smallint" | "integer" | "bigint" => "integer",
        "numeric" | "real" | "double precision" => "number",
        "json" | "jsonb" => return None,
        other if other.ends_with("[]") => "array",
        _ => "string",
    })
}

pub(super) fn format_of(sql_type: &str) -> &str {
    match sql_type {
        "smallint" | "integer" => "int32",
        "bigint" => "int64",
        other => other,
    }
}

/// A default as a JSON value, where it is a constant.
pub(super) fn default_value(sql_type: &str, default: &str) -> Option<Value> {
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
    fn rest_118_only_constant_defaults_are_shown() {
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
