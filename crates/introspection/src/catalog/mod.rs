//! All tables and columns at once, as columns of values: JSON of this shape is small and quick to read.

mod load;

use serde::Serialize;

/// The whole catalog. Lists that belong together have the same length and order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Catalog {
    /// Every schema that is not PostgreSQL's own.
    pub schemas: Vec<SchemaEntry>,
    /// Tables, views, materialized views and foreign tables, by schema and name.
    pub tables: Tables,
    /// Their columns, by table and position.
    pub columns: Columns,
    /// Foreign keys between tables.
    pub foreign_keys: Vec<ForeignKey>,
    /// Enum types with their labels.
    pub enums: Vec<Enums>,
    /// Roles, without PostgreSQL's predefined ones.
    pub roles: Vec<RoleEntry>,
    /// Functions, procedures and aggregates that no extension brought.
    pub functions: Functions,
}

/// A schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchemaEntry {
    /// Its name.
    pub name: String,
    /// Whether the REST service serves it.
    pub exposed: bool,
}

/// Tables, one list per property.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tables {
    /// Identifiers as text.
    pub oid: Vec<String>,
    /// Schemas.
    pub schema: Vec<String>,
    /// Names.
    pub name: Vec<String>,
    /// `r` table, `p` partitioned, `v` view, `m` materialized view, `f` foreign.
    pub kind: Vec<String>,
    /// Whether row-level security is on.
    pub rls: Vec<bool>,
    /// Rows as PostgreSQL last estimated them; none before the first ANALYZE.
    pub rows: Vec<Option<i64>>,
    /// Bytes with indexes, as of the last VACUUM or ANALYZE.
    pub bytes: Vec<Option<i64>>,
    /// Comments.
    pub comment: Vec<Option<String>>,
    /// Columns of the key that tells rows apart; empty when there is none.
    pub key: Vec<Vec<String>>,
}

/// Columns, one list per property.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Columns {
    /// Index into the lists of [`Tables`].
    pub table: Vec<usize>,
    /// Names.
    pub name: Vec<String>,
    /// Types with their modifiers, as in `numeric(10,2)`.
    pub r#type: Vec<String>,
    /// Whether the column accepts null.
    pub nullable: Vec<bool>,
    /// Default expressions.
    pub default: Vec<Option<String>>,
    /// `a` for `generated always as identity`, `d` for `by default`.
    pub identity: Vec<Option<String>>,
    /// Expressions of generated columns.
    pub generated: Vec<Option<String>>,
    /// Comments.
    pub comment: Vec<Option<String>>,
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForeignKey {
    /// Name of the constraint.
    pub name: String,
    /// Oid of the referencing table.
    pub table: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// Oid of the referenced table.
    pub target: String,
    /// The columns it refers to, in the same order.
    pub target_columns: Vec<String>,
    /// `no action`, `restrict`, `cascade`, `set null` or `set default`.
    pub on_delete: &'static str,
    /// As `on_delete`.
    pub on_update: &'static str,
}

/// An enum type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Enums {
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its labels in their order.
    pub values: Vec<String>,
}

/// A role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoleEntry {
    /// Its name.
    pub name: String,
    /// Whether it can log in.
    pub login: bool,
    /// Whether policies do not apply to it.
    pub bypassrls: bool,
}

/// Functions as a list of objects.
pub type Functions = Vec<FunctionEntry>;

/// A function, procedure, aggregate or window function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunctionEntry {
    /// Identifier as text.
    pub oid: String,
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Arguments with names, types and defaults.
    pub arguments: String,
    /// Result type; empty for procedures.
    pub returns: String,
    /// `f` function, `p` procedure, `a` aggregate, `w` window function.
    pub kind: String,
}
