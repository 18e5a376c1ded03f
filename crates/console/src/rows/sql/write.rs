//! The statements that insert, update, delete and lock rows.

use selvedge_introspection::{ColumnShape, TableShape};

use super::cell::{cell_expression, size_expression, whole_cell_expression};
use super::filter::push_filters;
use super::row::push_row;
use super::statement::Statement;
use crate::error::ConsoleError;
use crate::rows::request::{Cell, Cells, Filter, RowId, Texts};

/// The longest old value in bytes that is kept for an undo; a change of a longer one cannot be undone.
pub(in crate::rows) const UNDO_BYTES: usize = 1024 * 1024;

/// Returns the SQL expression for a row's identity without its version, because a `returning` list cannot read `xmin`.
/// The version of a row that was just written is the transaction's own id.
fn place_expression(table: &TableShape) -> String {
    let parts: Vec<String> = if !table.key.is_empty() {
        table.key_columns().map(whole_cell_expression).collect()
    } else if table.has_system_columns() {
        vec!["t.tableoid::text".to_owned(), "t.ctid::text".to_owned()]
    } else {
        Vec::new()
    };
    format!("array[{}]::text[]", parts.join(", "))
}

/// Returns the output list for the values of all columns, each up to `limit` characters, and the sizes of those that
/// are cut.
fn values_expression(table: &TableShape, limit: usize) -> String {
    let of = |expression: fn(&ColumnShape, usize) -> String| {
        let each: Vec<String> = table
            .columns
            .iter()
            .map(|column| expression(column, limit))
            .collect();
        each.join(", ")
    };
    format!(
        "array[{}]::text[] as cells, array[{}]::int8[] as sizes",
        of(cell_expression),
        of(size_expression)
    )
}

fn push_returning(statement: &mut Statement, table: &TableShape, limit: usize) {
    let place = place_expression(table);
    let values = values_expression(table, limit);
    statement.machine_only(&format!(" returning {place} as place, {values}"));
}

/// Looks up the column that a value is for, and refuses generated columns, to which PostgreSQL writes itself.
fn writable<'a>(table: &'a TableShape, name: &str) -> Result<&'a ColumnShape, ConsoleError> {
    let column = table
        .column(name)
        .ok_or_else(|| ConsoleError::invalid(format!("There is no column {name}")))?;
    if column.generated {
        return Err(ConsoleError::invalid(format!(
            "PostgreSQL computes the column {name}"
        )));
    }
    Ok(column)
}

fn push_cell(statement: &mut Statement, column: &ColumnShape, cell: &Cell) {
    match cell {
        Cell::Default { .. } => statement.sql("default"),
        Cell::Value { value } => statement.value(value.as_deref(), &column.cast_type),
    };
}

/// Writes the statement that inserts one row and returns it with its identity.
pub(in crate::rows) fn insert_statement(
    table: &TableShape,
    values: &Cells,
) -> Result<Statement, ConsoleError> {
    let mut statement = Statement::new("insert into ");
    statement.qualified(&table.schema, &table.name).sql(" as t");
    if values.is_empty() {
        statement.sql(" default values");
    } else {
        // PostgreSQL refuses a value for `generated always as identity` without these words, which an undo of a delete needs.
        let mut overrides = false;
        for (index, (name, cell)) in values.iter().enumerate() {
            let column = writable(table, name)?;
            overrides |= column.always_identity && matches!(cell, Cell::Value { .. });
            statement
                .sql(if index == 0 { " (" } else { ", " })
                .name(&column.name);
        }
        statement.sql(")");
        if overrides {
            statement.sql(" overriding system value");
        }
        for (index, (name, cell)) in values.iter().enumerate() {
            statement.sql(if index == 0 { " values (" } else { ", " });
            push_cell(&mut statement, writable(table, name)?, cell);
        }
        statement.sql(")");
    }
    push_returning(&mut statement, table, super::CELL_BYTES);
    Ok(statement)
}

fn push_assignments(
    statement: &mut Statement,
    table: &TableShape,
    values: &Cells,
) -> Result<(), ConsoleError> {
    if values.is_empty() {
        return Err(ConsoleError::invalid("The change has no values"));
    }
    for (index, (name, cell)) in values.iter().enumerate() {
        let column = writable(table, name)?;
        statement
            .sql(if index == 0 { " set " } else { ", " })
            .name(&column.name)
            .sql(" = ");
        push_cell(statement, column, cell);
    }
    Ok(())
}

/// Writes the statement that updates one row and returns it with its identity.
pub(in crate::rows) fn update_statement(
    table: &TableShape,
    row: &RowId,
    base: &Texts,
    values: &Cells,
) -> Result<Statement, ConsoleError> {
    let mut statement = Statement::new("update ");
    statement.qualified(&table.schema, &table.name).sql(" as t");
    push_assignments(&mut statement, table, values)?;
    statement.sql(" where ");
    push_row(&mut statement, table, row, Some(base))?;
    push_returning(&mut statement, table, super::CELL_BYTES);
    Ok(statement)
}

/// Writes the statement that deletes one row.
pub(in crate::rows) fn delete_statement(
    table: &TableShape,
    row: &RowId,
    base: &Texts,
) -> Result<Statement, ConsoleError> {
    let mut statement = Statement::new("delete from ");
    statement
        .qualified(&table.schema, &table.name)
        .sql(" as t where ");
    push_row(&mut statement, table, row, Some(base))?;
    Ok(statement)
}

/// Writes the statement that updates all matching rows. With `for_undo` it also returns the old values, which before
/// PostgreSQL 18 takes a join with the locked old rows.
pub(in crate::rows) fn update_matching_statement(
    table: &TableShape,
    filters: &[Filter],
    values: &Cells,
    for_undo: bool,
) -> Result<Statement, ConsoleError> {
    let mut statement = Statement::default();
    if for_undo {
        let mut old = Statement::new("with old as (select t.tableoid as tableoid, t.ctid as ctid, ");
        old.expression(&values_expression(table, UNDO_BYTES));
        old.sql(" from ")
            .qualified(&table.schema, &table.name)
            .sql(" as t where ");
        push_filters(&mut old, table, filters)?;
        old.sql(" for update of t) update ");
        statement = old.hidden_from_people();
        statement.human_only("update ");
    } else {
        statement.sql("update ");
    }
    statement.qualified(&table.schema, &table.name).sql(" as t");
    push_assignments(&mut statement, table, values)?;
    if for_undo {
        let place = place_expression(table);
        statement.machine_only(&format!(
            " from old where t.tableoid = old.tableoid and t.ctid = old.ctid returning {place} as place, old.cells, old.sizes"
        ));
        let mut shown = Statement::new(" where ");
        push_filters(&mut shown, table, filters)?;
        statement.human_only(shown.readable());
    } else {
        statement.sql(" where ");
        push_filters(&mut statement, table, filters)?;
    }
    Ok(statement)
}

/// Writes the query that locks one row and returns its version and its values.
pub(in crate::rows) fn lock_statement(
    table: &TableShape,
    row: &RowId,
    base: &Texts,
) -> Result<Statement, ConsoleError> {
    let mut statement = Statement::new("select ");
    statement.expression(&place_expression(table)).sql(" as place, ");
    statement.sql(if table.has_system_columns() {
        "t.xmin::text"
    } else {
        "null::text"
    });
    statement
        .sql(" as xmin, ")
        .expression(&values_expression(table, UNDO_BYTES));
    statement
        .sql(" from ")
        .qualified(&table.schema, &table.name)
        .sql(" as t where ");
    push_row(&mut statement, table, row, Some(base))?;
    statement.sql(" for update of t");
    Ok(statement)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::testing::table;

    fn value(text: &str) -> Cell {
        Cell::Value {
            value: Some(text.to_owned()),
        }
    }

    #[test]
    fn console_054_changes_are_shown_as_the_sql_that_runs() {
        let mut shape = table(&["id", "a"]);
        shape.key = vec![0];
        let row = RowId::Key {
            key: vec!["1'".into()],
            xmin: "7".into(),
        };
        let values = Cells::from([("a".to_owned(), value("x"))]);
        let update = update_statement(&shape, &row, &Texts::new(), &values).expect("valid");
        assert_eq!(
            update.readable(),
            r#"update "public"."t" as t set "a" = 'x' where t."id" = '1'''"#
        );
        let insert = insert_statement(&shape, &Cells::new()).expect("valid");
        assert_eq!(
            insert.readable(),
            r#"insert into "public"."t" as t default values"#
        );
        let delete = delete_statement(&shape, &row, &Texts::new()).expect("valid");
        assert_eq!(
            delete.readable(),
            r#"delete from "public"."t" as t where t."id" = '1'''"#
        );
        let all = update_matching_statement(&shape, &[], &values, true).expect("valid");
        assert_eq!(
            all.readable(),
            r#"update "public"."t" as t set "a" = 'x' where true"#
        );
    }

    #[test]
    fn console_166_generated_and_unknown_columns_are_refused() {
        let mut shape = table(&["id"]);
        shape.columns[0].generated = true;
        for name in ["id", "id\" = 1 --"] {
            let values = Cells::from([(name.to_owned(), value("x"))]);
            assert_eq!(
                insert_statement(&shape, &values).expect_err("refused").code(),
                "invalid"
            );
        }
    }
}
