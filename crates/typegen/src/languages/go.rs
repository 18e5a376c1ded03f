//! Go structs of tables, views and composite types.

use serde_json::json;

use super::names::pascal_case;
use crate::catalog::{Catalog, Column, Relation, RelationKind, Schema, Type};

/// What a struct is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Select,
    Insert,
    Update,
}

/// A field: its name in Go, its type, and its name in the database.
type Field<'c> = (String, String, &'c str);

/// Writes the structs of all schemas of `catalog`.
pub(crate) fn write_structs(catalog: &Catalog) -> String {
    // Compat: foreign tables are left out.
    let table = |relation: &Relation| matches!(relation.kind, RelationKind::Table);
    let view = |relation: &Relation| matches!(relation.kind, RelationKind::View { .. });
    let materialized = |relation: &Relation| matches!(relation.kind, RelationKind::MaterializedView);
    let all = [Operation::Select, Operation::Insert, Operation::Update];
    let sections = [
        "package database".to_owned(),
        write_relations(catalog, table, &all),
        write_relations(catalog, view, &all[..1]),
        write_relations(catalog, materialized, &all[..1]),
        write_composite_types(catalog),
    ];
    sections.join("\n\n").trim().to_owned()
}

fn write_relations(
    catalog: &Catalog,
    is_wanted: impl Fn(&Relation) -> bool,
    operations: &[Operation],
) -> String {
    let mut structs = Vec::new();
    for schema in &catalog.schemas {
        let relations = schema.tables.iter().chain(&schema.views);
        for relation in relations.filter(|relation| is_wanted(relation)) {
            for operation in operations {
                structs.push(write_relation(catalog, schema, relation, *operation));
            }
        }
    }
    structs.join("\n\n")
}

fn write_relation(catalog: &Catalog, schema: &Schema, relation: &Relation, operation: Operation) -> String {
    let fields = relation.columns.iter().map(|column| {
        let is_optional = is_optional(column, operation);
        let go_type = write_type(catalog, &column.format, is_optional);
        (pascal_case(&column.name), go_type, column.name.as_str())
    });
    let name = format!(
        "{}{}{operation:?}",
        pascal_case(&schema.name),
        pascal_case(&relation.name)
    );
    write_struct(&name, &fields.collect::<Vec<_>>())
}

fn is_optional(column: &Column, operation: Operation) -> bool {
    match operation {
        Operation::Select => column.is_nullable,
        Operation::Insert => column.is_nullable || column.is_identity || column.has_default,
        Operation::Update => true,
    }
}

fn write_composite_types(catalog: &Catalog) -> String {
    let types = catalog.schemas.iter().flat_map(|schema| {
        let own = schema.composite_types.iter();
        own.map(move |one| write_composite_type(catalog, schema, one))
    });
    types.collect::<Vec<_>>().join("\n\n")
}

fn write_composite_type(catalog: &Catalog, schema: &Schema, composite: &Type) -> String {
    let fields = composite.attributes.iter().map(|attribute| {
        // Compat: SQL's name of the type is looked up among those of the catalog, so only some, such as text, are found.
        let format = catalog
            .types
            .get(attribute.type_id)
            .map(|one| one.format.as_str());
        let go_type = find_plain_type(format.unwrap_or_default()).unwrap_or("interface{}");
        (
            pascal_case(&attribute.name),
            go_type.to_owned(),
            attribute.name.as_str(),
        )
    });
    let name = pascal_case(&schema.name) + &pascal_case(&composite.name);
    write_struct(&name, &fields.collect::<Vec<_>>())
}

/// Writes a struct with its fields in columns, as gofmt does.
fn write_struct(name: &str, fields: &[Field<'_>]) -> String {
    // Names and types are ASCII, so bytes are columns.
    let name_width = fields.iter().map(|field| field.0.len()).max().unwrap_or(0);
    let type_width = fields.iter().map(|field| field.1.len()).max().unwrap_or(0);
    let lines = fields.iter().map(|(name, go_type, column)| {
        let tag = write_tag(column);
        format!("  {name:name_width$} {go_type:type_width$} {tag}")
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    format!("type {name} struct {{\n{lines}\n}}")
}

/// Writes the tag with a field's name in JSON. A raw literal cannot contain a backtick.
fn write_tag(column: &str) -> String {
    let tag = format!("json:{}", json!(column));
    if tag.contains('`') {
        json!(tag).to_string()
    } else {
        format!("`{tag}`")
    }
}

fn write_type(catalog: &Catalog, format: &str, is_optional: bool) -> String {
    let exists = |condition: fn(&Type) -> bool| catalog.types.find_by_name("", format, condition).is_some();
    let found = match exists(|one| !one.enums.is_empty()) {
        true => Some("string"),
        false => find_plain_type(format),
    };
    if let Some(found) = found {
        // These types have a nil of their own.
        let is_pointer = is_optional && !matches!(found, "[]byte" | "interface{}" | "map[string]interface{}");
        return if is_pointer {
            format!("*{found}")
        } else {
            found.to_owned()
        };
    }
    if exists(|one| !one.attributes.is_empty()) {
        return "map[string]interface{}".to_owned();
    }
    match format.strip_prefix('_') {
        // Compat: the original has the space at the end.
        Some(element) => format!("[]{} ", write_type(catalog, element, is_optional)),
        None => "interface{}".to_owned(),
    }
}

/// The type for values of a type of PostgreSQL's own.
fn find_plain_type(format: &str) -> Option<&'static str> {
    Some(match format {
        "bool" => "bool",
        "int2" => "int16",
        "int4" => "int32",
        "int8" => "int64",
        "float4" => "float32",
        "float8" | "numeric" => "float64",
        "bytea" => "[]byte",
        "bpchar" | "varchar" | "date" | "text" | "citext" | "time" | "timetz" | "timestamp"
        | "timestamptz" | "interval" | "uuid" | "vector" => "string",
        "int4range" | "int4multirange" | "int8range" | "int8multirange" | "numrange" | "nummultirange"
        | "tsrange" | "tsmultirange" | "tstzrange" | "tstzmultirange" | "daterange" | "datemultirange" => {
            "string"
        }
        "json" | "jsonb" | "void" => "interface{}",
        "record" => "map[string]interface{}",
        _ => return None,
    })
}
