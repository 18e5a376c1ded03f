//! Tables and views.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use indexmap::IndexMap;

use crate::identifier::QualifiedName;

/// A column of a relation.
#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    pub comment: Option<String>,
    /// Whether neither the column nor its domain is NOT NULL.
    pub nullable: bool,
    /// Type for the OpenAPI document: domains over built-in types are named by their base type.
    pub data_type: String,
    /// Type as declared, with its modifier; qualified unless built in. Payload columns are read as this type.
    pub declared_type: String,
    /// Name of the type below all domains.
    pub base_type: String,
    /// The same type as PostgreSQL numbers it.
    pub base_type_oid: u32,
    /// Characters that fit, for `varchar(n)` and its like.
    pub max_length: Option<i32>,
    /// SQL of the default value.
    pub default: Option<String>,
    /// Labels in their order, if the type is an enum; else empty.
    pub enum_labels: Vec<String>,
}

/// Columns by name, in the order of `select *`.
pub type Columns = IndexMap<String, Column, RandomState>;

/// Where the rows of a table are stored in a database with Citus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Distribution {
    /// On this node, as without Citus.
    #[default]
    Local,
    /// All rows on every node: a reference table.
    Reference,
    /// All rows on one node: a table of a distributed schema, or a local table that Citus manages.
    SingleNode,
    /// In shards on several nodes: a distributed table.
    Sharded,
}

/// A table, view, materialized view, foreign or partitioned table.
#[derive(Debug, Clone)]
pub struct Relation {
    pub name: QualifiedName,
    pub comment: Option<String>,
    /// Whether it is a view or materialized view.
    pub is_view: bool,
    /// Whether PostgreSQL supports INSERT on it; false for many views. Says nothing about the caller's privileges.
    pub insertable: bool,
    /// Whether UPDATE is possible.
    pub updatable: bool,
    /// Whether DELETE is possible.
    pub deletable: bool,
    /// Whether an INSERT of one row always returns that row: true for tables without rules and BEFORE triggers, either of
    /// which could drop the row.
    pub inserts_plainly: bool,
    /// Names of the primary key's columns, sorted; for views, the columns that show their base table's key.
    pub primary_key: Vec<String>,
    /// The columns, in the order of `select *`.
    pub columns: Columns,
    /// Where the rows are stored; Citus supports only part of SQL for some distributions.
    pub distribution: Distribution,
    /// With Citus, the functions behind the computed columns of a table that it distributes, by the columns' names; else empty.
    pub computed_columns: HashMap<String, QualifiedName>,
}
