//! Go structs of tables, views and composite types.

use serde_json::json;

use super::names::pascal_case;
use crate::catalog::{Catalog, Column, Relation, RelationKind, Schema, Type};

/// The statement whose rows a struct describes; part of the struct's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Select,
    Insert,
    Update,
}

/// A field of a struct: Go name, Go type, column name.
type Field<'c> = (String, String, &'c str);

/// Writes `package database` with a struct per table and statement, per view and per composite type.
pub(crate) fn write_structs(catalog: &Catalog) -> String {
    // Compat: postgres-meta writes no structs for foreign tables in Go.
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

/// Whether the column's value may be null, or left out of the statement.
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
        // Compat: the table of types has names such as `int4`, but attributes are looked up by SQL names such as `integer`, so
        // only types whose two names are equal, such as `text`, are found.
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

/// Writes a struct with names, types and tags aligned in columns, as gofmt does.
fn write_struct(name: &str, fields: &[Field<'_>]) -> String {
    // Names and types are ASCII, so their length in bytes is their width.
    let name_width = fields.iter().map(|field| field.0.len()).max().unwrap_or(0);
    let type_width = fields.iter().map(|field| field.1.len()).max().unwrap_or(0);
    let lines = fields.iter().map(|(name, go_type, column)| {
        let tag = write_tag(column);
        format!("  {name:name_width$} {go_type:type_width$} {tag}")
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    format!("type {name} struct {{\n{lines}\n}}")
}

/// Writes a field's tag such as `json:"name"` in backticks, or as a quoted string when the name contains a backtick.
fn write_tag(column: &str) -> String {
    let tag = format!("json:{}", json!(column));
    if tag.contains('`') {
        json!(tag).to_string()
    } else {
        format!("`{tag}`")
    }
}

/// Writes the Go type of a column. `format` is the type's name in `pg_type`, such as `int4` or `_text`; optional ones are pointers.
fn write_type(catalog: &Catalog, format: &str, is_optional: bool) -> String {
    let exists = |condition: fn(&Type) -> bool| catalog.types.find_by_name("", format, condition).is_some();
    let found = match exists(|one| !one.enums.is_empty()) {
        true => Some("string"),
        false => find_plain_type(format),
    };
    if let Some(found) = found {
        // Slices, maps and interfaces can be nil without a pointer.
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
        // Compat: postgres-meta writes a space after array types.
        Some(element) => format!("[]{} ", write_type(catalog, element, is_optional)),
        None => "interface{}".to_owned(),
    }
}

/// Maps a built-in PostgreSQL type to its Go type.
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
