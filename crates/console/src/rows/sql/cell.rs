//! Expressions for the text of a cell, cut where it is long, and for a row's identity.

use selvedge_introspection::{ColumnShape, TableShape, TextForm};
use selvedge_postgres::quote_identifier;

/// A longer value is cut to this many bytes, and sent with its size (CONSOLE-052).
pub(in crate::rows) const CELL_BYTES: usize = 2_000;

/// Returns the column as SQL, qualified by `t`, the alias that every statement of this module gives the table.
fn reference(column: &ColumnShape) -> String {
    format!("t.{}", quote_identifier(&column.name))
}

/// Returns the SQL expression for the whole value in the text form that PostgreSQL prints.
pub(in crate::rows) fn whole_cell_expression(column: &ColumnShape) -> String {
    let reference = reference(column);
    match column.form {
        TextForm::Printed => format!("case when {reference} is not null then concat({reference}) end"),
        _ => format!("{reference}::text"),
    }
}

/// Returns the SQL expression for the first `characters` of the value. PostgreSQL reads only this part of long texts
/// and bytes.
pub(in crate::rows) fn cell_expression(column: &ColumnShape, characters: usize) -> String {
    let whole = whole_cell_expression(column);
    match column.form {
        TextForm::Short => whole,
        TextForm::Bytes => format!(
            "'\\x' || encode(substring({} from 1 for {}), 'hex')",
            reference(column),
            characters / 2
        ),
        TextForm::Text | TextForm::Printed | TextForm::Long => format!("left({whole}, {characters})"),
    }
}

/// Returns the SQL expression for the size in bytes of a value that [`cell_expression`] cuts; it is null for values
/// that are sent whole.
pub(in crate::rows) fn size_expression(column: &ColumnShape, characters: usize) -> String {
    // PostgreSQL stores the length of text and bytes, so that comparing the size does not read the value.
    let (size, limit) = match column.form {
        TextForm::Short => return "null::int8".to_owned(),
        TextForm::Bytes => (format!("octet_length({})", reference(column)), characters / 2),
        TextForm::Text | TextForm::Printed | TextForm::Long => (
            format!("octet_length({})", whole_cell_expression(column)),
            characters,
        ),
    };
    format!("case when {size} > {limit} then {size}::int8 end")
}

/// Returns the SQL expression for a row's identity as one array of text: the key and `xmin`, or `tableoid`, `ctid` and
/// `xmin`, or an empty array.
pub(in crate::rows) fn identity_expression(table: &TableShape) -> String {
    if !table.has_system_columns() {
        return "null::text[]".to_owned();
    }
    let parts: Vec<String> = if table.key.is_empty() {
        vec!["t.tableoid::text".to_owned(), "t.ctid::text".to_owned()]
    } else {
        table.key_columns().map(whole_cell_expression).collect()
    };
    format!("array[{}, t.xmin::text]", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::testing::{column, table};

    #[test]
    fn console_052_long_values_are_cut_where_postgresql_reads_them() {
        let cases = [
            (TextForm::Text, r#"left(t."a""b"::text, 10)"#),
            (
                TextForm::Bytes,
                r#"'\x' || encode(substring(t."a""b" from 1 for 5), 'hex')"#,
            ),
            (TextForm::Short, r#"t."a""b"::text"#),
            (
                TextForm::Printed,
                r#"left(case when t."a""b" is not null then concat(t."a""b") end, 10)"#,
            ),
        ];
        for (form, expected) in cases {
            let mut shape = column("a\"b", "pg_catalog.text");
            shape.form = form;
            assert_eq!(cell_expression(&shape, 10), expected);
        }
    }

    #[test]
    fn console_055_rows_are_told_apart_by_key_or_by_place() {
        let mut shape = table(&["id", "name"]);
        assert_eq!(
            identity_expression(&shape),
            "array[t.tableoid::text, t.ctid::text, t.xmin::text]"
        );
        shape.key = vec![0];
        assert_eq!(
            identity_expression(&shape),
            r#"array[t."id"::text, t.xmin::text]"#
        );
        shape.kind = selvedge_introspection::TableKind::View;
        assert_eq!(identity_expression(&shape), "null::text[]");
    }
}
