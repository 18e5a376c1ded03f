//! The TypeScript type for a PostgreSQL type, as PostgREST's JSON has it.

use super::format::{Member, TypeNode};
use crate::catalog::{Catalog, Column, Relation, RelationKind, Schema};

const UNKNOWN: TypeNode = TypeNode::Keyword("unknown");

/// The types of a database, seen from one schema: its own enums and rows win over those of the same name elsewhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct TypeNames<'c> {
    catalog: &'c Catalog,
    schema: &'c Schema,
}

impl<'c> TypeNames<'c> {
    /// Creates the names as seen from `schema`, whose own types are preferred.
    pub(super) fn new(catalog: &'c Catalog, schema: &'c Schema) -> Self {
        Self { catalog, schema }
    }

    /// Returns the catalog.
    pub(super) fn catalog(&self) -> &'c Catalog {
        self.catalog
    }

    /// Returns the schema for which types are named.
    pub(super) fn schema(&self) -> &'c Schema {
        self.schema
    }

    /// A column as a member of an object type.
    pub(super) fn column(&self, column: &Column, is_nullable: bool) -> Member {
        let value = self.by_name(&column.format);
        Member::new(&column.name, if is_nullable { value.or_null() } else { value })
    }

    /// Returns the TypeScript type of the PostgreSQL type with this oid.
    pub(super) fn by_id(&self, id: u32) -> TypeNode {
        match self.catalog.types.get(id) {
            Some(found) => self.by_name(&found.name),
            None => UNKNOWN,
        }
    }

    /// The type for a name of PostgreSQL's catalog; names of array types begin with an underscore.
    pub(super) fn by_name(&self, name: &str) -> TypeNode {
        match name {
            "bool" => TypeNode::Keyword("boolean"),
            "int2" | "int4" | "int8" | "float4" | "float8" | "numeric" => TypeNode::Keyword("number"),
            "bytea" | "bpchar" | "varchar" | "date" | "text" | "citext" | "time" | "timetz" | "timestamp"
            | "timestamptz" | "uuid" | "vector" | "interval" => TypeNode::Keyword("string"),
            "json" | "jsonb" => TypeNode::Reference("Json"),
            // PostgREST answers 204 without a body when a function returns void.
            "void" => TypeNode::Keyword("undefined"),
            "record" => TypeNode::Reference("Record<string, unknown>"),
            _ => match name.strip_prefix('_') {
                Some(element) => TypeNode::Array(Box::new(self.by_name(element))),
                None => self.of_project(name),
            },
        }
    }

    /// An enum, a composite type or the row of a relation.
    fn of_project(&self, name: &str) -> TypeNode {
        let types = &self.catalog.types;
        // Only the name of the type is known here, as in postgres-meta: two schemas may have a type of that name, and then
        // the own one is taken. A domain over an enum comes with the name of the enum.
        if let Some(found) = types.find_by_name(&self.schema.name, name, |one| !one.enums.is_empty()) {
            if self.catalog.has_schema(&found.schema) {
                return indexed(&found.schema, "Enums", &found.name);
            }
            // The schema is not listed, so its labels are written out.
            return union(found.enums.iter().cloned().map(TypeNode::Literal).collect());
        }
        if let Some(found) = types.find_by_name(&self.schema.name, name, |one| !one.attributes.is_empty()) {
            if self.catalog.has_schema(&found.schema) {
                return indexed(&found.schema, "CompositeTypes", &found.name);
            }
            return UNKNOWN;
        }
        // A relation's row is looked up after enums and composite types, which a relation of the same name would hide.
        let row = |schema: &Schema, kind: &str| {
            let mut row = vec![schema.name.clone(), kind.to_owned(), name.to_owned()];
            row.push("Row".to_owned());
            TypeNode::Indexed(row)
        };
        let is_table = |one: &Relation| one.kind == RelationKind::Table;
        if let Some(schema) = self.find_schema_with(|one| &one.tables, name, is_table) {
            return row(schema, "Tables");
        }
        let is_view = |one: &Relation| matches!(one.kind, RelationKind::View { .. });
        if let Some(schema) = self.find_schema_with(|one| &one.views, name, is_view) {
            return row(schema, "Views");
        }
        UNKNOWN
    }

    /// The schema in which a relation of that name is found: this schema if it has one, else the first that does.
    fn find_schema_with(
        &self,
        relations: impl Fn(&Schema) -> &Vec<Relation>,
        name: &str,
        condition: impl Fn(&Relation) -> bool,
    ) -> Option<&'c Schema> {
        let has = |schema: &&Schema| {
            relations(schema)
                .iter()
                .any(|one| one.name == name && condition(one))
        };
        Some(self.schema)
            .filter(has)
            .or_else(|| self.catalog.schemas.iter().find(has))
    }
}

fn indexed(schema: &str, kind: &str, name: &str) -> TypeNode {
    TypeNode::Indexed([schema, kind, name].map(str::to_owned).to_vec())
}

/// `true` or `false` as a type.
pub(super) fn boolean(value: bool) -> TypeNode {
    TypeNode::Keyword(if value { "true" } else { "false" })
}

/// A union, or its only type.
pub(super) fn union(mut types: Vec<TypeNode>) -> TypeNode {
    match types.len() {
        1 => types.remove(0),
        _ => TypeNode::Union(types),
    }
}
