//! `parameters`: what operations refer to, shared ones first, then those of each relation.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::catalog::Relation;

/// Values of `Prefer` by the key of their parameter; an empty list allows any.
const PREFERENCES: [(&str, &[&str]); 4] = [
    ("preferParams", &[]),
    (
        "preferReturn",
        &["return=representation", "return=minimal", "return=none"],
    ),
    ("preferCount", &["count=none"]),
    (
        "preferPost",
        &[
            "return=representation",
            "return=minimal",
            "return=none",
            "resolution=ignore-duplicates",
            "resolution=merge-duplicates",
        ],
    ),
];

/// Parameters of every relation: key, name, description, place.
const SHARED: [(&str, &str, &str, &str); 7] = [
    ("select", "select", "Filtering Columns", "query"),
    ("on_conflict", "on_conflict", "On Conflict", "query"),
    ("order", "order", "Ordering", "query"),
    ("range", "Range", "Limiting and Pagination", "header"),
    ("rangeUnit", "Range-Unit", "Limiting and Pagination", "header"),
    ("offset", "offset", "Limiting and Pagination", "query"),
    ("limit", "limit", "Limiting and Pagination", "query"),
];

/// The `parameters` of a document that lists these relations.
pub(super) fn render_parameters(relations: &[&Arc<Relation>]) -> Value {
    let mut parameters = Map::new();
    for (key, values) in PREFERENCES {
        let mut parameter = plain_parameter("Prefer", "Preference", "header");
        if !values.is_empty() {
            parameter["enum"] = json!(values);
        }
        parameters.insert(key.to_owned(), parameter);
    }
    for (key, name, description, place) in SHARED {
        let mut parameter = plain_parameter(name, description, place);
        if key == "rangeUnit" {
            parameter["default"] = json!("items");
        }
        parameters.insert(key.to_owned(), parameter);
    }
    for relation in relations {
        insert_relation_parameters(&mut parameters, relation);
    }
    Value::Object(parameters)
}

/// The body of a relation's writes, and a filter for each of its columns.
fn insert_relation_parameters(parameters: &mut Map<String, Value>, relation: &Relation) {
    let name = &relation.name.name;
    parameters.insert(
        format!("body.{name}"),
        json!({
            "name": name,
            "description": name,
            "required": false,
            "in": "body",
            "schema": { "$ref": format!("#/definitions/{name}") },
        }),
    );
    for column in relation.columns.values() {
        let mut parameter =
            json!({ "name": column.name, "required": false, "in": "query", "type": "string" });
        if let Some(comment) = &column.comment {
            parameter["description"] = json!(comment);
        }
        parameters.insert(format!("rowFilter.{name}.{}", column.name), parameter);
    }
}

/// An optional parameter that is a string.
fn plain_parameter(name: &str, description: &str, place: &str) -> Value {
    json!({ "name": name, "description": description, "required": false, "in": place, "type": "string" })
}
