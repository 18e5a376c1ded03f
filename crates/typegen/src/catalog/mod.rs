//! The schemas that types are generated from, read from PostgreSQL's system catalog and sorted.

mod load;
mod order;
mod relationship;

use std::collections::HashMap;

use serde::Deserialize;

pub(crate) use load::load_catalog;
pub(crate) use relationship::Relationship;

/// The chosen schemas of a database, in the order of the generated text.
#[derive(Debug)]
pub(crate) struct Catalog {
    pub(crate) schemas: Vec<Schema>,
    /// Every type of the database by its oid.
    pub(crate) types: Types,
}

/// A schema with its relations, functions and types. Each list is sorted by name.
#[derive(Debug)]
pub(crate) struct Schema {
    pub(crate) name: String,
    /// Tables and foreign tables.
    pub(crate) tables: Vec<Relation>,
    /// Views and materialized views.
    pub(crate) views: Vec<Relation>,
    pub(crate) functions: Vec<Function>,
    pub(crate) enums: Vec<Type>,
    pub(crate) composite_types: Vec<Type>,
}

/// A table, foreign table, view or materialized view.
#[derive(Debug)]
pub(crate) struct Relation {
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) kind: RelationKind,
    /// Sorted by name.
    pub(crate) columns: Vec<Column>,
    /// Sorted by the name of the foreign key.
    pub(crate) relationships: Vec<Relationship>,
}

/// The kind of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RelationKind {
    Table,
    ForeignTable,
    View { is_updatable: bool },
    MaterializedView,
}

/// A column of a relation.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// The type's name in `pg_type`, such as `int4` or `_text`; for a domain, that of its base type.
    pub(crate) format: String,
    pub(crate) is_identity: bool,
    /// `GENERATED ALWAYS AS IDENTITY`: INSERT and UPDATE may not set it.
    pub(crate) is_always_generated: bool,
    pub(crate) has_default: bool,
    pub(crate) is_nullable: bool,
    /// Whether an UPDATE may set it; false for computed columns of views.
    pub(crate) is_updatable: bool,
}

/// A function of a chosen schema.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// All arguments, output arguments included, sorted by name.
    pub(crate) arguments: Vec<Argument>,
    /// The argument list of CREATE FUNCTION, without the parentheses.
    pub(crate) argument_types: String,
    pub(crate) return_type: String,
    pub(crate) return_type_id: u32,
    /// The relation whose row type is returned.
    pub(crate) return_relation_id: Option<u32>,
    pub(crate) is_set_returning: bool,
    /// Whether `ROWS` is above 1. PostgREST takes a function with `ROWS 1` for a to-one relationship.
    pub(crate) returns_many_rows: bool,
}

/// An argument of a function, also an output argument.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Argument {
    mode: String,
    pub(crate) name: String,
    pub(crate) type_id: u32,
    pub(crate) has_default: bool,
}

impl Argument {
    /// Whether callers pass it: IN, INOUT and VARIADIC arguments.
    pub(crate) fn is_input(&self) -> bool {
        matches!(self.mode.as_str(), "i" | "b" | "v")
    }

    /// Whether it is a column of `RETURNS TABLE (…)`.
    pub(crate) fn is_table_column(&self) -> bool {
        self.mode == "t"
    }
}

impl Function {
    /// Returns the arguments that callers pass.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(|argument| argument.is_input())
    }
}

/// A type of any schema.
#[derive(Debug, Clone)]
pub(crate) struct Type {
    pub(crate) name: String,
    pub(crate) schema: String,
    /// The name as PostgreSQL prints it: with its schema unless that is in the search path.
    pub(crate) format: String,
    pub(crate) enums: Vec<String>,
    pub(crate) attributes: Vec<Attribute>,
    /// Whether it is a composite type or the row type of a relation.
    pub(crate) is_row_type: bool,
}

/// An attribute of a composite type.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) type_id: u32,
}

/// All types of a database.
#[derive(Debug, Default)]
pub(crate) struct Types {
    by_id: HashMap<u32, Type>,
    /// Oids of the types with a name, in the order of creation; several schemas may have a type of the same name.
    ids_by_name: HashMap<String, Vec<u32>>,
    /// All oids, sorted by schema, name and oid.
    ids_in_order: Vec<u32>,
}

impl Types {
    /// Indexes types, which must be sorted by oid. `ids_in_order` are the same oids sorted by schema and name.
    fn collect(types: Vec<(u32, Type)>, ids_in_order: Vec<u32>) -> Self {
        let mut collected = Self {
            ids_in_order,
            ..Self::default()
        };
        for (id, one) in types {
            let ids = collected.ids_by_name.entry(one.name.clone()).or_default();
            ids.push(id);
            collected.by_id.insert(id, one);
        }
        collected
    }

    /// Returns the type with this oid.
    pub(crate) fn get(&self, id: u32) -> Option<&Type> {
        self.by_id.get(&id)
    }

    /// Returns all types, sorted by schema, name and age.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = &Type> {
        self.ids_in_order.iter().filter_map(|id| self.get(*id))
    }

    /// Returns the type if it is a composite type or the row type of a relation.
    pub(crate) fn row_type(&self, id: u32) -> Option<&Type> {
        self.get(id).filter(|found| found.is_row_type)
    }

    /// Returns the type of that name that fulfils the condition; the one in `schema` if there are several, else the oldest.
    pub(crate) fn find_by_name(
        &self,
        schema: &str,
        name: &str,
        condition: impl Fn(&Type) -> bool,
    ) -> Option<&Type> {
        let ids = self.ids_by_name.get(name)?;
        let mut candidates = ids
            .iter()
            .filter_map(|id| self.get(*id))
            .filter(|one| condition(one));
        let first = candidates.next()?;
        if first.schema == schema {
            return Some(first);
        }
        Some(candidates.find(|one| one.schema == schema).unwrap_or(first))
    }
}

impl Catalog {
    /// Returns the name of the relation with this oid if it is in one of the chosen schemas.
    pub(crate) fn find_relation_name(&self, id: u32) -> Option<&str> {
        self.schemas
            .iter()
            .flat_map(|schema| schema.tables.iter().chain(&schema.views))
            .find(|relation| relation.id == id)
            .map(|relation| relation.name.as_str())
    }

    /// Whether a schema was chosen and exists.
    pub(crate) fn has_schema(&self, name: &str) -> bool {
        self.schemas.iter().any(|schema| schema.name == name)
    }
}
