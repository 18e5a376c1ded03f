//! The JSON that the browser half sends about rows: filters, orders, identities of rows, and staged changes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A condition on one column, written with an operator of the REST service such as `eq` or `ilike`.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(super) struct Filter {
    pub(super) column: String,
    pub(super) operator: String,
    /// The right side of the comparison as text, which PostgreSQL casts to the column's type.
    #[serde(default)]
    pub(super) value: Option<String>,
    /// The keys that lead from a JSON column to the value that is compared, from the outside in.
    #[serde(default)]
    pub(super) path: Vec<String>,
    #[serde(default)]
    pub(super) not: bool,
}

/// A column by which the rows are sorted, with its direction and the place of its nulls.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Sort {
    pub(super) column: String,
    #[serde(default)]
    pub(super) descending: bool,
    #[serde(default)]
    pub(super) nulls_first: bool,
}

/// Identifies a row and the version that was read, so that changes by other people are noticed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub(super) enum RowId {
    /// The row is identified by its primary key or another unique key without nulls.
    Key {
        /// The values of the key's columns as text, in the order of the key.
        key: Vec<String>,
        /// The row's `xmin` when it was read. If it differs now, the row was changed in the meantime.
        xmin: String,
    },
    /// The row is identified by where it is stored, because its table has no key.
    Place {
        /// The oid of the table that stores the row, which is a partition where the table is partitioned.
        tableoid: String,
        /// The row's physical position in that table, which changes with every update.
        ctid: String,
        /// The row's `xmin` when it was read; another value now means that somebody has changed the row.
        xmin: String,
    },
    /// The row is identified by all its values that were read, because a foreign table has neither `xmin` nor `ctid`.
    Values {},
}

/// The value that a change writes into a column.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub(super) enum Cell {
    /// The column gets its default, as by the keyword `default` in SQL.
    Default {
        /// Always true; the field's presence makes the JSON object mean this variant.
        default: bool,
    },
    /// Sets the column to a value.
    Value {
        /// The value as text, which PostgreSQL casts to the column's type, or null.
        value: Option<String>,
    },
}

/// The values that a change writes, by the name of the column.
pub(super) type Cells = BTreeMap<String, Cell>;
/// The values that were read, as text or null, by the name of the column.
pub(super) type Texts = BTreeMap<String, Option<String>>;

/// A change that a person has staged in the grid and applies together with others.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Change {
    /// Inserts one row.
    Insert {
        /// The oid of the table as text.
        table: String,
        /// The values of the new row; columns that are not named get their default.
        values: Cells,
    },
    /// Updates one row.
    Update {
        /// The oid of the table as text.
        table: String,
        /// The row that is changed, with the version that was read.
        row: RowId,
        /// The values that were read, which a report of a conflict shows beside the present ones.
        #[serde(default)]
        base: Texts,
        /// The new values.
        values: Cells,
    },
    /// Deletes one row.
    Delete {
        /// The oid of the table as text.
        table: String,
        /// The row that is changed, with the version that was read.
        row: RowId,
        /// The values that were read, which a report of a conflict shows beside the present ones.
        #[serde(default)]
        base: Texts,
    },
    /// Updates all rows that match the filters.
    UpdateMatching {
        /// The oid of the table as text.
        table: String,
        /// The conditions that a row must meet to be changed; all of them must hold.
        filters: Vec<Filter>,
        /// The values that each matching row gets.
        values: Cells,
        /// How many rows matched when the person confirmed; another number now refuses the change.
        expected: i64,
    },
}

impl Change {
    /// The oid of the table that the change writes to.
    pub(super) fn table(&self) -> &str {
        match self {
            Self::Insert { table, .. }
            | Self::Update { table, .. }
            | Self::Delete { table, .. }
            | Self::UpdateMatching { table, .. } => table,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_ids_and_cells_are_told_apart_by_their_members() {
        let id = |text| serde_json::from_str::<RowId>(text).expect("valid");
        assert!(matches!(id(r#"{"key":["1"],"xmin":"7"}"#), RowId::Key { .. }));
        assert!(matches!(
            id(r#"{"tableoid":"1","ctid":"(0,1)","xmin":"7"}"#),
            RowId::Place { .. }
        ));
        assert!(matches!(id("{}"), RowId::Values {}));
        let cell = |text| serde_json::from_str::<Cell>(text).expect("valid");
        assert_eq!(cell(r#"{"value":null}"#), Cell::Value { value: None });
        assert_eq!(cell(r#"{"default":true}"#), Cell::Default { default: true });
    }
}
