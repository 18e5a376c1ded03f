//! `paths`: the operations of a relation or function.

use serde_json::{Map, Value, json};

use super::types::{ROW_TYPES, add_description, format_of, split_comment, type_name, type_of};
use crate::catalog::{Function, Parameter, Relation, Volatility};

/// An operation with its tag; the first line of the object's comment is the summary, the rest the description.
fn start_operation(tag: String, comment: Option<&str>) -> Map<String, Value> {
    let mut operation = Map::from_iter([("tags".to_owned(), json!([tag]))]);
    if let Some(comment) = comment {
        let (summary, description) = split_comment(comment);
        operation.insert("summary".to_owned(), json!(summary));
        if !description.is_empty() {
            operation.insert("description".to_owned(), json!(description));
        }
    }
    operation
}

/// The operations of a relation. Compat: a relation that allows any write lists all of them.
pub(super) fn relation_path(relation: &Relation) -> Value {
    let name = &relation.name.name;
    let body = format!("body.{name}");
    let rows = json!({ "type": "array", "items": { "$ref": format!("#/definitions/{name}") } });
    let found = json!({
        "200": { "description": "OK", "schema": rows },
        "206": { "description": "Partial Content" },
    });
    let created = json!({ "201": { "description": "Created" } });
    let empty = json!({ "204": { "description": "No Content" } });
    let mut path = Map::new();
    let read = [
        "select",
        "order",
        "range",
        "rangeUnit",
        "offset",
        "limit",
        "preferCount",
    ];
    path.insert("get".to_owned(), relation_operation(relation, true, &read, found));
    if relation.insertable || relation.updatable || relation.deletable {
        for (method, has_filters, parameters, responses) in [
            ("post", false, &[&body, "select", "preferPost"][..], created),
            ("patch", true, &[&body, "preferReturn"][..], empty.clone()),
            ("delete", true, &["preferReturn"][..], empty),
        ] {
            let operation = relation_operation(relation, has_filters, parameters, responses);
            path.insert(method.to_owned(), operation);
        }
    }
    Value::Object(path)
}

/// One operation of a relation: filters for its columns, if there are to be some, then other parameters.
fn relation_operation(
    relation: &Relation,
    has_filters: bool,
    parameters: &[&str],
    responses: Value,
) -> Value {
    let name = &relation.name.name;
    let filters = relation.columns.keys().filter(|_| has_filters);
    let references: Vec<Value> = filters
        .map(|column| format!("rowFilter.{name}.{column}"))
        .chain(parameters.iter().map(|parameter| (*parameter).to_owned()))
        .map(|parameter| json!({ "$ref": format!("#/parameters/{parameter}") }))
        .collect();
    let mut operation = start_operation(name.clone(), relation.comment.as_deref());
    operation.insert("parameters".to_owned(), json!(references));
    operation.insert("responses".to_owned(), responses);
    Value::Object(operation)
}

/// The operations of a function: POST, and GET unless it is volatile.
pub(super) fn function_path(function: &Function) -> Value {
    let base = || {
        let mut base = start_operation(
            format!("(rpc) {}", function.name.name),
            function.comment.as_deref(),
        );
        base.insert("produces".to_owned(), json!(ROW_TYPES[..3]));
        base.insert("responses".to_owned(), json!({ "200": { "description": "OK" } }));
        base
    };
    let mut path = Map::new();
    // A GET of a volatile function would fail as soon as it writes.
    if function.volatility != Volatility::Volatile {
        let mut get = base();
        if !function.parameters.is_empty() {
            let parameters: Vec<Value> = function.parameters.iter().map(query_parameter).collect();
            get.insert("parameters".to_owned(), json!(parameters));
        }
        path.insert("get".to_owned(), Value::Object(get));
    }
    let mut post = base();
    post.insert(
        "parameters".to_owned(),
        json!([
            { "name": "args", "required": true, "in": "body", "schema": arguments_schema(function) },
            { "$ref": "#/parameters/preferParams" },
        ]),
    );
    path.insert("post".to_owned(), Value::Object(post));
    Value::Object(path)
}

/// The JSON schema of a call's body.
fn arguments_schema(function: &Function) -> Value {
    let mut schema = Map::new();
    add_description(&mut schema, function.comment.as_deref());
    let required: Vec<&str> = function
        .parameters
        .iter()
        .filter(|p| p.required)
        .map(|p| p.name.as_str())
        .collect();
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    let properties: Map<String, Value> = function
        .parameters
        .iter()
        .map(|parameter| {
            (
                parameter.name.clone(),
                Value::Object(type_of(&parameter.type_name)),
            )
        })
        .collect();
    if !properties.is_empty() {
        schema.insert("properties".to_owned(), Value::Object(properties));
    }
    schema.insert("type".to_owned(), json!("object"));
    Value::Object(schema)
}

/// An argument in the query string. A VARIADIC one may be repeated; other arrays are written as array literals, and so
/// are strings to a client.
fn query_parameter(parameter: &Parameter) -> Value {
    let mut described = json!({ "name": parameter.name, "required": parameter.required, "in": "query" });
    if parameter.variadic {
        let element = parameter
            .type_name
            .strip_suffix("[]")
            .unwrap_or(&parameter.type_name);
        let mut items = Map::from_iter([("format".to_owned(), json!(format_of(element)))]);
        if let Some(name) = type_name(element) {
            items.insert("type".to_owned(), json!(name));
        }
        described["type"] = json!(type_name(&parameter.type_name).unwrap_or("string"));
        described["items"] = Value::Object(items);
        described["collectionFormat"] = json!("multi");
    } else {
        described["format"] = json!(format_of(&parameter.type_name));
        let name = type_name(&parameter.type_name).filter(|name| *name != "array");
        described["type"] = json!(name.unwrap_or("string"));
    }
    described
}
