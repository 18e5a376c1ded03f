//! What a database contains: schemas, tables, columns, constraints, indexes, triggers, functions, types, views,
//! extensions, publications, roles, grants and policies.
//!
//! In comes a connection; out come the columnar [`Catalog`] of all tables, lists of objects of one kind, the SQL that
//! recreates an object, what depends on it, and the sizes of tables. All queries of one [`CatalogReader`] use the same snapshot, and all names
//! in their texts carry their schema. The crate writes nothing, and has no code for HTTP or accounts.

mod catalog;
mod citus;
mod definition;
mod dependants;
mod objects;
mod reader;
mod shape;
mod sizes;

pub use catalog::{
    Catalog, Columns, Enums, ForeignKey, FunctionEntry, Functions, RoleEntry, SchemaEntry, Tables,
};
pub use definition::ObjectDescription;
pub use dependants::Dependant;
pub use objects::{Object, ObjectKind};
pub use reader::{CatalogReader, IntrospectionError, catalog_fingerprint, read_snapshot};
pub use shape::{ColumnShape, TableKind, TableShape, TextForm};
pub use sizes::TableSize;
