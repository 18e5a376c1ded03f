//! What the browser half sends about rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A condition on a column, with an operator of the REST service.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(super) struct Filter {
    pub(super) column: String,
    pub(super) operator: String,
    /// The operand as text.
    #[serde(default)]
    pub(super) value: Option<String>,
    /// Keys into a JSON column.
    #[serde(default)]
    pub(super) path: Vec<String>,
    #[serde(default)]
    pub(super) not: bool,
}

/// A column of the order.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Sort {
    pub(super) column: String,
    #[serde(default)]
    pub(super) descending: bool,
    #[serde(default)]
    pub(super) nulls_first: bool,
}

/// What tells a row apart, and the version that was read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub(super) enum RowId {
    /// By the values of the key, in its order.
    Key {
        /// Values as text.
        key: Vec<String>,
        /// The version that was read.
        xmin: String,
    },
    /// By its place.
    Place {
        /// The table that holds it, which for a partitioned table is a partition.
        tableoid: String,
        /// Its place in that table.
        ctid: String,
        /// The version that was read.
        xmin: String,
    },
    /// By all values that were read: rows of another server.
    Values {},
}

/// A value for a column.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub(super) enum Cell {
    /// The column's default.
    Default {
        /// Always true.
        default: bool,
    },
    /// Text or null.
    Value {
        /// The value.
        value: Option<String>,
    },
}

/// Values by column.
pub(super) type Cells = BTreeMap<String, Cell>;
/// Texts by column.
pub(super) type Texts = BTreeMap<String, Option<String>>;

/// A staged change.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Change {
    /// A new row.
    Insert {
        /// Oid of the table.
        table: String,
        /// Columns that are not named get their default.
        values: Cells,
    },
    /// New values for a row.
    Update {
        /// Oid of the table.
        table: String,
        /// The row.
        row: RowId,
        /// The values that were read.
        #[serde(default)]
        base: Texts,
        /// The new ones.
        values: Cells,
    },
    /// A row less.
    Delete {
        /// Oid of the table.
        table: String,
        /// The row.
        row: RowId,
        /// The values that were read.
        #[serde(default)]
        base: Texts,
    },
    /// New values for all rows that match.
    UpdateMatching {
        /// Oid of the table.
        table: String,
        /// Which rows.
        filters: Vec<Filter>,
        /// The new values.
        values: Cells,
        /// How many rows there were when it was decided.
        expected: i64,
    },
}

impl Change {
    /// Oid of its table.
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
