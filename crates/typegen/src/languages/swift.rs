//! Swift structs of tables, views and composite types, and enums. Each schema is an enum that serves as their namespace.

use std::fmt::Write as _;

use super::names::{camel_case, pascal_case};
use crate::catalog::{Catalog, Column, Relation, Schema, Type};

/// The access level of the generated declarations: a Swift keyword.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SwiftAccess {
    #[default]
    Internal,
    Public,
    Private,
    Package,
}

/// The statement whose rows a struct describes; part of the struct's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Select,
    Insert,
    Update,
}

struct Field<'c> {
    swift_name: String,
    swift_type: String,
    name: &'c str,
    is_identity: bool,
}

impl SwiftAccess {
    /// Returns the Swift keyword, such as `public`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Internal => "internal",
            Self::Public => "public",
            Self::Private => "private",
            Self::Package => "package",
        }
    }

    /// Parses the Swift keyword; `None` for any other text, such as `open`.
    #[must_use]
    pub fn parse(keyword: &str) -> Option<Self> {
        let all = [Self::Internal, Self::Public, Self::Private, Self::Package];
        all.into_iter().find(|one| one.as_str() == keyword)
    }
}

/// Writes the imports and an enum per schema with everything in it.
pub(crate) fn write_declarations(catalog: &Catalog, access: SwiftAccess) -> String {
    let writer = Writer {
        catalog,
        access: access.as_str(),
    };
    let mut lines = vec![
        "import Foundation".to_owned(),
        "import Supabase".to_owned(),
        String::new(),
    ];
    for schema in &catalog.schemas {
        writer.write_schema(schema, &mut lines);
    }
    lines.join("\n")
}

struct Writer<'c> {
    catalog: &'c Catalog,
    access: &'static str,
}

impl Writer<'_> {
    fn write_schema(&self, schema: &Schema, lines: &mut Vec<String>) {
        let access = self.access;
        lines.push(format!("{access} enum {}Schema {{", type_name(&schema.name)));
        for one in &schema.enums {
            let cases = one
                .enums
                .iter()
                .map(|label| (property_name(label), label.as_str()));
            let head = format!("{}: String, Codable, Hashable, Sendable", type_name(&one.name));
            self.write_enum("  ", &head, cases, lines);
        }
        for table in &schema.tables {
            for operation in [Operation::Select, Operation::Insert, Operation::Update] {
                self.write_relation(table, operation, lines);
            }
        }
        for view in &schema.views {
            self.write_relation(view, Operation::Select, lines);
        }
        for composite in &schema.composite_types {
            self.write_composite_type(composite, lines);
        }
        lines.push("}".to_owned());
    }

    fn write_relation(&self, relation: &Relation, operation: Operation, lines: &mut Vec<String>) {
        let fields = relation.columns.iter().map(|column| Field {
            swift_name: property_name(&column.name),
            swift_type: self.write_type(&column.format, is_optional(column, operation)),
            name: &column.name,
            is_identity: column.is_identity,
        });
        let name = format!("{}{operation:?}", type_name(&relation.name));
        self.write_struct(&name, &fields.collect::<Vec<_>>(), lines);
    }

    fn write_composite_type(&self, composite: &Type, lines: &mut Vec<String>) {
        let fields = composite.attributes.iter().map(|attribute| {
            // Compat: the table of types has names such as `int4`, but attributes are looked up by SQL names such as `integer`, so
            // only types whose two names are equal, such as `text`, are found.
            let format = self
                .catalog
                .types
                .get(attribute.type_id)
                .map(|one| one.format.as_str());
            Field {
                swift_name: type_name(&attribute.name),
                swift_type: self.write_type(format.unwrap_or_default(), false),
                name: &attribute.name,
                is_identity: false,
            }
        });
        self.write_struct(&type_name(&composite.name), &fields.collect::<Vec<_>>(), lines);
    }

    fn write_struct(&self, name: &str, fields: &[Field<'_>], lines: &mut Vec<String>) {
        let access = self.access;
        // The protocol Identifiable, by which SwiftUI tells list rows apart, requires a property `id`.
        let identity = fields.iter().find(|field| field.is_identity);
        let identifiable = if identity.is_some() { ", Identifiable" } else { "" };
        lines.push(format!(
            "  {access} struct {name}: Codable, Hashable, Sendable{identifiable} {{"
        ));
        if let Some(field) = identity.filter(|field| field.swift_name != "id") {
            lines.push(format!(
                "    {access} var id: {} {{ {} }}",
                field.swift_type, field.swift_name
            ));
        }
        for field in fields {
            lines.push(format!(
                "    {access} let {}: {}",
                field.swift_name, field.swift_type
            ));
        }
        // Swift refuses an enum with a raw type and no case.
        if !fields.is_empty() {
            let cases = fields.iter().map(|field| (field.swift_name.clone(), field.name));
            self.write_enum("    ", "CodingKeys: String, CodingKey", cases, lines);
        }
        lines.push("  }".to_owned());
    }

    fn write_enum<'n>(
        &self,
        indent: &str,
        head: &str,
        cases: impl Iterator<Item = (String, &'n str)>,
        lines: &mut Vec<String>,
    ) {
        lines.push(format!("{indent}{} enum {head} {{", self.access));
        lines.extend(cases.map(|(name, value)| format!("{indent}  case {name} = {}", write_string(value))));
        lines.push(format!("{indent}}}"));
    }

    /// Writes the Swift type of a column. `format` is the type's name in `pg_type`, such as `int4` or `_text`.
    fn write_type(&self, format: &str, is_optional: bool) -> String {
        let mark = if is_optional { "?" } else { "" };
        if let Some(plain) = find_plain_type(format) {
            return format!("{plain}{mark}");
        }
        if let Some(element) = format.strip_prefix('_') {
            return format!("[{}]{mark}", self.write_type(element, false));
        }
        let exists =
            |condition: fn(&Type) -> bool| self.catalog.types.find_by_name("", format, condition).is_some();
        if exists(|one| !one.enums.is_empty()) {
            format!("{}{mark}", type_name(format))
        } else if exists(|_| true) {
            // Compat: postgres-meta treats every other type as a composite type, even built-in ones such as `inet`.
            format!("{}Select{mark}", type_name(format))
        } else {
            format!("AnyJSON{mark}")
        }
    }
}

/// Whether the column's value may be null, or left out of the statement.
fn is_optional(column: &Column, operation: Operation) -> bool {
    match operation {
        Operation::Select => column.is_nullable,
        Operation::Insert => column.is_nullable || column.is_identity || column.has_default,
        Operation::Update => true,
    }
}

fn type_name(name: &str) -> String {
    match name.strip_prefix('_') {
        Some(rest) => format!("_{}", pascal_case(rest)),
        None => pascal_case(name),
    }
}

fn property_name(name: &str) -> String {
    let property = camel_case(name);
    if matches!(property.as_str(), "in" | "default" | "case") {
        format!("`{property}`")
    } else {
        property
    }
}

/// Writes a Swift string literal.
fn write_string(value: &str) -> String {
    let mut literal = String::from("\"");
    for character in value.chars() {
        match character {
            '\\' => literal.push_str("\\\\"),
            '"' => literal.push_str("\\\""),
            '\t' => literal.push_str("\\t"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\0'..='\u{1f}' | '\u{7f}' | '\u{2028}' | '\u{2029}' => {
                // Writing to a String cannot fail.
                let _ = write!(literal, "\\u{{{:x}}}", u32::from(character));
            }
            other => literal.push(other),
        }
    }
    literal.push('"');
    literal
}

/// Maps a built-in PostgreSQL type to its Swift type.
fn find_plain_type(format: &str) -> Option<&'static str> {
    Some(match format {
        "bool" => "Bool",
        "int2" => "Int16",
        "int4" => "Int32",
        "int8" => "Int64",
        "float4" => "Float",
        "float8" => "Double",
        "numeric" | "decimal" => "Decimal",
        "uuid" => "UUID",
        "bytea" | "bpchar" | "varchar" | "date" | "text" | "citext" | "time" | "timetz" | "timestamp"
        | "timestamptz" | "interval" | "vector" => "String",
        "json" | "jsonb" => "AnyJSON",
        "void" => "Void",
        "record" => "JSONObject",
        _ => return None,
    })
}
