//! The catalog of all tables and columns, as one list per property, because JSON of this shape is small and quick to
//! read.

mod load;

use serde::Serialize;

/// The whole catalog. All lists of [`Tables`] have the same length and order, and so have those of [`Columns`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Catalog {
    /// Every schema that is not PostgreSQL's own.
    pub schemas: Vec<SchemaEntry>,
    /// Tables, views, materialized views and foreign tables, by schema and name.
    pub tables: Tables,
    /// The columns of all tables, by table and position.
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

/// A schema of the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchemaEntry {
    /// The name without its schema and without quotes.
    pub name: String,
    /// Whether the REST service serves it.
    pub exposed: bool,
}

/// The tables as one list per property.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tables {
    /// The oids as text, because JavaScript has no integer of this size in JSON.
    pub oid: Vec<String>,
    /// Name of each table's schema.
    pub schema: Vec<String>,
    /// The names as stored in the catalog, without quotes.
    pub name: Vec<String>,
    /// The letter of `pg_class.relkind`: `r` table, `p` partitioned table, `v` view, `m` materialized view, `f` foreign
    /// table.
    pub kind: Vec<String>,
    /// Whether row-level security is enabled.
    pub rls: Vec<bool>,
    /// The number of rows as PostgreSQL last estimated it, or null before the first ANALYZE.
    pub rows: Vec<Option<i64>>,
    /// The bytes of the table with its indexes, as of the last VACUUM or ANALYZE.
    pub bytes: Vec<Option<i64>>,
    /// The text of `comment on`, or null.
    pub comment: Vec<Option<String>>,
    /// The columns of the key that identifies rows; empty when there is none.
    pub key: Vec<Vec<String>>,
    /// The privileges on the table of the login that reads the catalog, as letters: `i` insert, `u` update, `d` delete, `o` alter
    /// (owners only).
    pub rights: Vec<String>,
}

/// The columns of all tables as one list per property.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Columns {
    /// The table of the column, as an index into the lists of [`Tables`].
    pub table: Vec<usize>,
    /// The names as stored in the catalog, without quotes.
    pub name: Vec<String>,
    /// The types with their modifiers, as in `numeric(10,2)`.
    pub r#type: Vec<String>,
    /// Whether the column accepts null.
    pub nullable: Vec<bool>,
    /// The SQL expression of the default, or null.
    pub default: Vec<Option<String>>,
    /// The letter `a` for `generated always as identity` or `d` for `by default`; null for other columns.
    pub identity: Vec<Option<String>>,
    /// The SQL expression by which a generated column is computed; null for other columns.
    pub generated: Vec<Option<String>>,
    /// The text of `comment on`, or null.
    pub comment: Vec<Option<String>>,
}

/// A foreign key between two tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForeignKey {
    /// The name of the constraint.
    pub name: String,
    /// The oid of the table that refers to another one.
    pub table: String,
    /// The columns that refer to the other table.
    pub columns: Vec<String>,
    /// The oid of the table that is referred to.
    pub target: String,
    /// The columns that are referred to, in the same order as `columns`.
    pub target_columns: Vec<String>,
    /// The action for referring rows on a delete: `no action`, `restrict`, `cascade`, `set null` or `set default`.
    pub on_delete: &'static str,
    /// The action for referring rows when the referenced key changes; the same values.
    pub on_update: &'static str,
}

/// An enum type with its labels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Enums {
    /// The object's schema.
    pub schema: String,
    /// The name without its schema and without quotes.
    pub name: String,
    /// The labels in the order in which they sort.
    pub values: Vec<String>,
}

/// A role of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoleEntry {
    /// The name without its schema and without quotes.
    pub name: String,
    /// Whether the role can log in.
    pub login: bool,
    /// Whether the role has the attribute `bypassrls`, so that policies do not apply to it.
    pub bypassrls: bool,
    /// Whether the login that reads the catalog is a member of this role, and so may alter what the role owns.
    pub member: bool,
}

/// The functions as a list of objects, because most projects have only a few.
pub type Functions = Vec<FunctionEntry>;

/// A function, procedure, aggregate or window function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunctionEntry {
    /// Oid of the object, in decimal digits.
    pub oid: String,
    /// The schema in which the object lies.
    pub schema: String,
    /// The name without its schema and without quotes.
    pub name: String,
    /// The arguments with names, types and defaults, as in `create function`.
    pub arguments: String,
    /// The type of the result, or an empty text for a procedure.
    pub returns: String,
    /// The letter of `pg_proc.prokind`: `f` function, `p` procedure, `a` aggregate, `w` window function.
    pub kind: String,
}
