//! Shapes for the unit tests of this area.

use selvedge_introspection::{ColumnShape, TableKind, TableShape, TextForm};

/// Returns a nullable column of this type, for tests that write SQL without a database.
pub(super) fn column(name: &str, cast_type: &str) -> ColumnShape {
    ColumnShape {
        name: name.to_owned(),
        attribute: 1,
        r#type: cast_type.to_owned(),
        cast_type: cast_type.to_owned(),
        form: TextForm::Text,
        nullable: true,
        always_identity: false,
        generated: false,
        readable: true,
    }
}

/// Returns a table without a key whose columns are all of type text.
pub(super) fn table(columns: &[&str]) -> TableShape {
    TableShape {
        oid: "16400".to_owned(),
        schema: "public".to_owned(),
        name: "t".to_owned(),
        kind: TableKind::Table,
        estimated_rows: None,
        readable: true,
        columns: columns
            .iter()
            .map(|name| column(name, "pg_catalog.text"))
            .collect(),
        key: Vec::new(),
        indexes: Vec::new(),
    }
}
