//! Refuses rows that are too long for a file: PostgreSQL sends each in one piece, which stands in this process's memory several
//! times (CONSOLE-058, 173).

use selvedge_introspection::{ColumnShape, TableShape, TextForm};
use selvedge_postgres::quote_identifier;
use tokio_postgres::Transaction;
use tokio_postgres::error::SqlState;

use crate::error::ConsoleError;
use crate::rows::request::Filter;
use crate::rows::sql::{Statement, push_filters, whole_cell_expression};

/// The bytes of the values of a row that a file may have.
const LONGEST_ROW: u64 = 64_000_000;

/// Compressed values are at least a 256th of their size, so smaller ones need not be unpacked to be measured.
const LARGE_WHEN_STORED: u64 = LONGEST_ROW / 256;

/// Words of the error by which PostgreSQL ends the statement at a row that is too long, before it sends the row.
const MARK: &str = "bytes in a row";

/// The search for such a row is given up after this time; the export itself still ends at one.
const SEARCH_LIMITS: &str = "set local statement_timeout = '3s'";

/// Appends a condition that is true for rows of a bearable size, and an error for others that the filters let through.
pub(super) fn push_row_limit(
    statement: &mut Statement,
    table: &TableShape,
    columns: &[&ColumnShape],
    filters: &[Filter],
) -> Result<(), ConsoleError> {
    let Some(size) = size_of_row(columns) else {
        return Ok(());
    };
    statement.sql(" and case when ");
    push_filters(statement, table, filters)?;
    // The text depends on the row, so PostgreSQL does not compute it before there is one.
    statement.expression(&format!(
        " and {size} > {LONGEST_ROW} then ({size} || ' {MARK}')::pg_catalog.int4 is null else true end"
    ));
    Ok(())
}

/// Looks whether a row is too long, where that can be found out quickly, because a download that fails cannot say why.
pub(super) async fn check_rows(
    transaction: &Transaction<'_>,
    table: &TableShape,
    columns: &[&ColumnShape],
    filters: &[Filter],
) -> Result<(), ConsoleError> {
    let Some(size) = size_of_row(columns) else {
        return Ok(());
    };
    // Long values are stored beside the table, and most tables have none.
    let stored = "select coalesce(pg_catalog.pg_relation_size(nullif(reltoastrelid, 0)), 0)
        from pg_catalog.pg_class where oid = $1::text::oid";
    let row = transaction.query_opt(stored, &[&table.oid]).await?;
    if row.is_none_or(|row| row.get::<_, i64>(0) < LARGE_WHEN_STORED as i64) {
        return Ok(());
    }
    let mut statement = Statement::new("select from ");
    statement
        .qualified(&table.schema, &table.name)
        .sql(" as t where ");
    push_filters(&mut statement, table, filters)?;
    statement.expression(&format!(" and {size} > {LONGEST_ROW} limit 1"));
    transaction.batch_execute(SEARCH_LIMITS).await?;
    let found = transaction
        .query_typed(statement.text(), &statement.parameters())
        .await;
    match found {
        Ok(rows) if rows.is_empty() => Ok(()),
        Ok(_) => Err(too_long()),
        Err(error) if error.code() == Some(&SqlState::QUERY_CANCELED) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Turns the error at a row that is too long into a sentence for people; others stay as they are.
pub(super) fn explain(error: ConsoleError) -> ConsoleError {
    if error.code() == SqlState::INVALID_TEXT_REPRESENTATION.code() && error.to_string().contains(MARK) {
        too_long()
    } else {
        error
    }
}

fn too_long() -> ConsoleError {
    ConsoleError::invalid("A row has more than 64 MB, which is too long for a file")
        .with_hint("Hide its long columns, filter it out, or read it with psql")
}

/// The bytes of a row's values as SQL; none where all of them are short.
fn size_of_row(columns: &[&ColumnShape]) -> Option<String> {
    let sizes: Vec<String> = columns.iter().filter_map(|column| size_of_cell(column)).collect();
    (!sizes.is_empty()).then(|| format!("({})", sizes.join(" + ")))
}

fn size_of_cell(column: &ColumnShape) -> Option<String> {
    let reference = format!("t.{}", quote_identifier(&column.name));
    let whole = whole_cell_expression(column);
    // PostgreSQL knows the length of text and bytes without reading them; other values are unpacked and printed for it.
    let size = match column.form {
        TextForm::Short => return None,
        TextForm::Text => format!("pg_catalog.octet_length({whole})"),
        TextForm::Bytes => format!("2 * pg_catalog.octet_length({reference})::int8"),
        TextForm::Printed | TextForm::Long => format!(
            "case when pg_catalog.pg_column_size({reference}) > {LARGE_WHEN_STORED} \
             then pg_catalog.octet_length({whole}) else 0 end"
        ),
    };
    Some(format!("coalesce(({size})::int8, 0)"))
}
