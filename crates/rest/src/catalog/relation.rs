//! Tables and views.

use super::Columns;
use crate::identifier::QualifiedName;
use serde::Deserialize;

/// A column of a relation.
#[derive(Debug, Clone, Deserialize)]
pub struct Column {
    pub name: String,
    pub comment: Option<String>,
    pub nullable: bool,
    /// Type for documentation: domains over built-in types are named by their base.
    pub data_type: String,
    /// Type as declared, with its modifier; qualified unless built in. Used in `json_to_recordset`.
    pub declared_type: String,
    /// Type below all domains.
    pub base_type: String,
    pub max_length: Option<i32>,
    /// SQL of the default value.
    pub default: Option<String>,
    /// Labels, if it is an enum.
    #[serde(rename = "enum")]
    pub enum_labels: Vec<String>,
}

/// A table, view, materialized view, foreign or partitioned table.
#[derive(Debug, Clone)]
pub struct Relation {
    pub name: QualifiedName,
    pub comment: Option<String>,
    pub is_view: bool,
    pub insertable: bool,
    pub updatable: bool,
    pub deletable: bool,
    /// Whether one row inserted is one row returned: a table without rules, partitions, and triggers that come before it.
    pub inserts_plainly: bool,
    /// Sorted by name; for views, the traced columns of their base's key.
    pub primary_key: Vec<String>,
    /// In the relation's order.
    pub columns: Columns,
}
