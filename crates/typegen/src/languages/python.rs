//! Python classes of tables, views and composite types, for Pydantic.

use serde_json::json;

use super::names::{pascal_case, snake_case};
use crate::catalog::{Catalog, Column, Relation, RelationKind, Schema, Type};

const IMPORTS: &str = "\
from __future__ import annotations

import datetime
import uuid
from typing import (
    Annotated,
    Any,
    List,
    Literal,
    Optional,
    TypedDict,
)
from typing_extensions import NotRequired, TypeAlias

from pydantic import BaseModel, Field, JsonValue";

/// Writes the imports, the enums of the whole database, and a class per table and statement, per view and per composite type.
pub(crate) fn write_classes(catalog: &Catalog) -> String {
    let view = |relation: &Relation| matches!(relation.kind, RelationKind::View { .. });
    let materialized = |relation: &Relation| matches!(relation.kind, RelationKind::MaterializedView);
    let composite_types = catalog.schemas.iter().flat_map(|schema| {
        let own = schema.composite_types.iter();
        own.map(move |one| write_composite_type(catalog, schema, one))
    });
    let sections = [
        IMPORTS.to_owned(),
        write_enums(catalog),
        write_tables(catalog),
        write_views(catalog, view),
        write_views(catalog, materialized),
        composite_types.collect::<Vec<_>>().join("\n\n"),
    ];
    sections.join("\n\n").trim().to_owned()
}

/// Writes each enum as a type alias. If schemas share an enum's name, the last schema's labels are written at the place of the
/// first one's.
fn write_enums(catalog: &Catalog) -> String {
    // Compat: postgres-meta identifies enums by name without schema, and writes those of schemas that were not requested.
    let mut enums: Vec<&Type> = Vec::new();
    for one in catalog.types.in_order().filter(|one| !one.enums.is_empty()) {
        match enums.iter_mut().find(|earlier| earlier.name == one.name) {
            Some(earlier) => *earlier = one,
            None => enums.push(one),
        }
    }
    let lines = enums.into_iter().map(|one| {
        let labels = one.enums.iter().map(|label| json!(label).to_string());
        let labels = labels.collect::<Vec<_>>().join(", ");
        format!("{}: TypeAlias = Literal[{labels}]", type_class(one))
    });
    lines.collect::<Vec<_>>().join("\n\n")
}

fn write_tables(catalog: &Catalog) -> String {
    let mut classes = Vec::new();
    for schema in &catalog.schemas {
        // Compat: postgres-meta writes no classes for foreign tables in Python.
        let tables = schema.tables.iter();
        for table in tables.filter(|table| matches!(table.kind, RelationKind::Table)) {
            classes.push(write_model(catalog, schema, table));
            classes.push(write_dictionary(catalog, schema, table, "Insert"));
            classes.push(write_dictionary(catalog, schema, table, "Update"));
        }
    }
    classes.join("\n\n")
}

fn write_views(catalog: &Catalog, is_wanted: impl Fn(&Relation) -> bool) -> String {
    let mut classes = Vec::new();
    for schema in &catalog.schemas {
        let views = schema.views.iter().filter(|view| is_wanted(view));
        classes.extend(views.map(|view| write_model(catalog, schema, view)));
    }
    classes.join("\n\n")
}

/// Writes the Pydantic model of rows that a SELECT returns.
fn write_model(catalog: &Catalog, schema: &Schema, relation: &Relation) -> String {
    let attributes = relation.columns.iter().map(|column| {
        let python_type = write_type(catalog, &column.format);
        write_attribute(&column.name, &python_type, column.is_nullable)
    });
    let name = relation_class(schema, &relation.name);
    write_class(&format!("{name}(BaseModel)"), attributes.collect())
}

/// Writes the `TypedDict` of rows for `Insert` or `Update`. Columns that may be left out are `NotRequired`.
fn write_dictionary(catalog: &Catalog, schema: &Schema, table: &Relation, operation: &str) -> String {
    let is_required = |column: &Column| {
        operation == "Insert" && !(column.is_nullable || column.is_identity || column.has_default)
    };
    let attributes = table.columns.iter().map(|column| {
        let python_type = optional(&write_type(catalog, &column.format), column.is_nullable);
        let annotated = format!("Annotated[{python_type}, Field(alias={})]", json!(column.name));
        let name = snake_case(&column.name);
        if is_required(column) {
            format!("    {name}: {annotated}")
        } else {
            format!("    {name}: NotRequired[{annotated}]")
        }
    });
    let name = relation_class(schema, &table.name);
    write_class(&format!("{name}{operation}(TypedDict)"), attributes.collect())
}

/// Writes the model of a composite type. Its attributes are all optional, because SQL cannot declare them NOT NULL.
fn write_composite_type(catalog: &Catalog, schema: &Schema, composite: &Type) -> String {
    let attributes = composite.attributes.iter().map(|attribute| {
        let name = catalog.types.get(attribute.type_id).map(|one| one.name.as_str());
        let python_type = write_type(catalog, name.unwrap_or_default());
        write_attribute(&attribute.name, &python_type, true)
    });
    let name = relation_class(schema, &composite.name);
    write_class(&format!("{name}(BaseModel)"), attributes.collect())
}

fn write_class(head: &str, attributes: Vec<String>) -> String {
    // Python requires a body.
    if attributes.is_empty() {
        format!("class {head}:\n    pass")
    } else {
        format!("class {head}:\n{}", attributes.join("\n"))
    }
}

fn write_attribute(name: &str, python_type: &str, is_optional: bool) -> String {
    let python_type = optional(python_type, is_optional);
    let alias = json!(name);
    format!("    {}: {python_type} = Field(alias={alias})", snake_case(name))
}

fn optional(python_type: &str, is_optional: bool) -> String {
    if is_optional {
        format!("Optional[{python_type}]")
    } else {
        python_type.to_owned()
    }
}

fn relation_class(schema: &Schema, name: &str) -> String {
    pascal_case(&schema.name) + &pascal_case(name)
}

fn type_class(one: &Type) -> String {
    pascal_case(&one.schema) + &pascal_case(&one.name)
}

/// Writes the Python type of a column. `format` is the type's name in `pg_type`, such as `int4` or `_text`.
fn write_type(catalog: &Catalog, format: &str) -> String {
    if let Some(element) = format.strip_prefix('_') {
        return format!("List[{}]", write_type(catalog, element));
    }
    let find_last = |condition: fn(&Type) -> bool| {
        let types = catalog.types.in_order();
        types.filter(|one| one.name == format && condition(one)).last()
    };
    if let Some(found) = find_last(|one| !one.enums.is_empty()) {
        return type_class(found);
    }
    match find_plain_type(format) {
        Some(found) => found.to_owned(),
        None => find_last(|_| true).map_or("Any".to_owned(), type_class),
    }
}

/// Maps a built-in PostgreSQL type to its Python type.
fn find_plain_type(format: &str) -> Option<&'static str> {
    Some(match format {
        "bool" => "bool",
        "int2" | "int4" | "int8" => "int",
        "float4" | "float8" | "numeric" => "float",
        "bytea" => "bytes",
        "bpchar" | "varchar" | "string" | "text" | "citext" | "interval" => "str",
        "date" => "datetime.date",
        "time" | "timetz" => "datetime.time",
        "timestamp" | "timestamptz" => "datetime.datetime",
        "uuid" => "uuid.UUID",
        "vector" => "list[Any]",
        "json" | "jsonb" => "JsonValue",
        "int4range" | "int4multirange" | "int8range" | "int8multirange" | "numrange" | "nummultirange"
        | "tsrange" | "tsmultirange" | "tstzrange" | "tstzmultirange" | "daterange" | "datemultirange" => {
            "str"
        }
        "void" => "None",
        "record" => "dict[str, Any]",
        _ => return None,
    })
}
