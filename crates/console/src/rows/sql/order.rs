//! Reads sorted rows from any position without OFFSET (CONSOLE-050).
//!
//! The rows after a position are a union of ranges: rows that are equal in the first sort columns and greater in the next
//! one. Each range has its own ORDER BY and LIMIT, so that an index can be used for every mixture of directions and nulls.

use selvedge_introspection::{ColumnShape, TableShape};
use selvedge_postgres::quote_identifier;

use super::cell::whole_cell_expression;
use super::statement::Statement;
use crate::error::ConsoleError;
use crate::rows::request::Sort;

/// A column or expression of an order, with its direction and what is needed to compare a row with a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::rows) struct OrderKey {
    /// The SQL expression in its own type, by which PostgreSQL sorts and compares.
    pub(in crate::rows) expression: String,
    /// The SQL expression for the whole value as text, which goes into the cursor of the next page.
    pub(in crate::rows) text: String,
    cast_type: String,
    nullable: bool,
    descending: bool,
    nulls_first: bool,
    /// Whether several rows may share all values up to and including this one, so that rows equal to the place follow, too.
    pub(in crate::rows) repeats: bool,
}

/// A condition on one sort column; a row belongs to a range when all bounds of the range hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::rows) struct Bound<'a> {
    key: &'a OrderKey,
    test: Test<'a>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test<'a> {
    Equal(Option<&'a str>),
    Behind(&'a str),
    BehindOrEqual(&'a str),
    Null,
    NotNull,
}

/// Returns the order of a table: first the columns that were asked for, then those that make each row's place unique.
pub(in crate::rows) fn order_of(table: &TableShape, sort: &[Sort]) -> Result<Vec<OrderKey>, ConsoleError> {
    let mut keys: Vec<OrderKey> = Vec::new();
    for asked in sort {
        let column = table
            .column(&asked.column)
            .ok_or_else(|| ConsoleError::invalid(format!("There is no column {}", asked.column)))?;
        let key = column_key(column, asked.descending, asked.nulls_first);
        if !keys.iter().any(|known| known.expression == key.expression) {
            keys.push(key);
        }
    }
    // The key goes in the direction of the last column, so that an index over both can be read in one direction.
    let descending = keys.last().is_some_and(|key| key.descending);
    let has_key = !table.key.is_empty() && table.key_columns().all(|column| column.readable);
    if has_key {
        for column in table.key_columns() {
            let key = column_key(column, descending, descending);
            if !keys.iter().any(|known| known.expression == key.expression) {
                keys.push(key);
            }
        }
    } else if table.has_system_columns() {
        keys.push(system_key("t.tableoid", "pg_catalog.oid", false));
        keys.push(system_key("t.ctid", "pg_catalog.tid", false));
    } else {
        // Rows of a view have no key, so they are sorted by all columns, and equal rows may repeat.
        let readable = table.columns.iter().filter(|column| column.readable);
        let columns: Vec<String> = readable
            .map(|column| format!("t.{}", quote_identifier(&column.name)))
            .collect();
        let digest = format!("md5(row({})::text)", columns.join(", "));
        keys.push(system_key(&digest, "pg_catalog.text", true));
    }
    Ok(keys)
}

fn column_key(column: &ColumnShape, descending: bool, nulls_first: bool) -> OrderKey {
    OrderKey {
        expression: format!("t.{}", quote_identifier(&column.name)),
        text: whole_cell_expression(column),
        cast_type: column.cast_type.clone(),
        nullable: column.nullable,
        descending,
        nulls_first,
        repeats: false,
    }
}

fn system_key(expression: &str, cast_type: &str, repeats: bool) -> OrderKey {
    OrderKey {
        expression: expression.to_owned(),
        text: format!("{expression}::text"),
        cast_type: cast_type.to_owned(),
        nullable: false,
        descending: false,
        nulls_first: false,
        repeats,
    }
}

impl OrderKey {
    /// Returns the same key with direction and nulls turned round, for reading backwards.
    pub(in crate::rows) fn reversed(&self) -> Self {
        Self {
            descending: !self.descending,
            nulls_first: !self.nulls_first,
            ..self.clone()
        }
    }
}

/// Returns the ranges of rows behind a cursor, in the order in which they must be read. `values` holds the cursor's
/// text for each key.
pub(in crate::rows) fn range_after<'a>(
    keys: &'a [OrderKey],
    values: &'a [Option<String>],
) -> Vec<Vec<Bound<'a>>> {
    let mut ranges = Vec::new();
    // The innermost range comes first: equal in all keys but the last.
    for last in (0..keys.len()).rev() {
        let equal: Vec<Bound<'_>> = keys[..last]
            .iter()
            .zip(values)
            .map(|(key, value)| Bound {
                key,
                test: Test::Equal(value.as_deref()),
            })
            .collect();
        for test in tests_behind(&keys[last], values[last].as_deref()) {
            let mut range = equal.clone();
            range.push(Bound {
                key: &keys[last],
                test,
            });
            ranges.push(range);
        }
    }
    ranges
}

/// Returns the tests that hold for values of one key which come after `value`, in the order of those values.
fn tests_behind<'a>(key: &OrderKey, value: Option<&'a str>) -> Vec<Test<'a>> {
    match value {
        None if key.nulls_first => vec![Test::NotNull],
        None => Vec::new(),
        Some(value) => {
            let behind = if key.repeats {
                Test::BehindOrEqual(value)
            } else {
                Test::Behind(value)
            };
            if key.nullable && !key.nulls_first {
                vec![behind, Test::Null]
            } else {
                vec![behind]
            }
        }
    }
}

impl Bound<'_> {
    /// Appends the bound to a statement as an SQL condition.
    pub(in crate::rows) fn push(&self, statement: &mut Statement) {
        let key = self.key;
        statement.expression(&key.expression);
        match self.test {
            Test::Equal(Some(value)) => statement.sql(" = ").value(Some(value), &key.cast_type),
            Test::Equal(None) | Test::Null => statement.sql(" is null"),
            Test::NotNull => statement.sql(" is not null"),
            Test::Behind(value) => statement
                .sql(if key.descending { " < " } else { " > " })
                .value(Some(value), &key.cast_type),
            Test::BehindOrEqual(value) => statement
                .sql(if key.descending { " <= " } else { " >= " })
                .value(Some(value), &key.cast_type),
        };
    }
}

/// Appends `order by` with these expressions, which stand for the keys in their order.
pub(in crate::rows) fn push_order<'a>(
    statement: &mut Statement,
    keys: &[OrderKey],
    expressions: impl Iterator<Item = &'a str>,
) {
    for (index, (key, expression)) in keys.iter().zip(expressions).enumerate() {
        statement.sql(if index == 0 { "" } else { ", " });
        statement.expression(expression);
        if key.descending {
            statement.sql(" desc");
        }
        // Without words PostgreSQL puts nulls last, and first when descending; the same words match more indexes.
        if key.nullable && key.nulls_first != key.descending {
            statement.sql(if key.nulls_first {
                " nulls first"
            } else {
                " nulls last"
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::testing::table;

    fn sort(column: &str, descending: bool, nulls_first: bool) -> Sort {
        Sort {
            column: column.into(),
            descending,
            nulls_first,
        }
    }

    fn ranges(keys: &[OrderKey], values: &[Option<&str>]) -> Vec<String> {
        let values: Vec<Option<String>> = values.iter().map(|value| value.map(str::to_owned)).collect();
        range_after(keys, &values)
            .iter()
            .map(|bounds| {
                let mut statement = Statement::default();
                for bound in bounds {
                    statement.sql("; ");
                    bound.push(&mut statement);
                }
                statement.readable()[2..].to_owned()
            })
            .collect()
    }

    #[test]
    fn console_050_the_rows_behind_a_place_are_ranges_in_order() {
        let mut shape = table(&["id", "a"]);
        shape.key = vec![0];
        shape.columns[0].nullable = false;

        let keys = order_of(&shape, &[sort("a", false, false)]).expect("known");
        assert_eq!(
            ranges(&keys, &[Some("x"), Some("7")]),
            [
                r#"t."a" = 'x'; t."id" > '7'"#,
                r#"t."a" > 'x'"#,
                r#"t."a" is null"#
            ]
        );
        // Only nulls can follow nulls at the end.
        assert_eq!(
            ranges(&keys, &[None, Some("7")]),
            [r#"t."a" is null; t."id" > '7'"#]
        );

        let backwards: Vec<OrderKey> = keys.iter().map(OrderKey::reversed).collect();
        assert_eq!(
            ranges(&backwards, &[None, Some("7")]),
            [r#"t."a" is null; t."id" < '7'"#, r#"t."a" is not null"#]
        );
    }

    #[test]
    fn console_055_tables_without_key_are_ordered_by_place_and_views_by_value() {
        let mut shape = table(&["a"]);
        let place = order_of(&shape, &[]).expect("known");
        assert_eq!(place[1].expression, "t.ctid");
        shape.kind = selvedge_introspection::TableKind::View;
        let value = order_of(&shape, &[]).expect("known");
        assert_eq!(
            ranges(&value, &[Some("abc")]),
            [r#"md5(row(t."a")::text) >= 'abc'"#]
        );
    }

    #[test]
    fn console_166_a_sort_by_something_else_than_a_column_is_refused() {
        let outcome = order_of(&table(&["a"]), &[sort("a; drop table b", false, false)]);
        assert_eq!(outcome.expect_err("refused").code(), "invalid");
    }
}
