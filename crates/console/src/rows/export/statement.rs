//! The `COPY` statement of an export.

use selvedge_introspection::{ColumnShape, TableShape};
use selvedge_postgres::{quote_identifier, quote_literal};

use super::format::ExportFormat;
use super::row_limit::push_row_limit;
use super::ticket::ExportRequest;
use crate::error::ConsoleError;
use crate::rows::read::choose_columns;
use crate::rows::sql::{Statement, order_of, push_filters, push_order};

/// Writes the `COPY` statement of an export.
pub(super) fn copy_statement(table: &TableShape, request: &ExportRequest) -> Result<String, ConsoleError> {
    let select = select_statement(table, request)?;
    let form = if request.format.is_csv() {
        "csv, header"
    } else {
        "binary"
    };
    Ok(format!("copy ({select}) to stdout (format {form})"))
}

/// Writes the query of an export. `COPY` takes no parameters, so this is the form with literals.
pub(super) fn select_statement(table: &TableShape, request: &ExportRequest) -> Result<String, ConsoleError> {
    let columns = choose_columns(table, request.columns.as_deref())?;
    if columns.is_empty() {
        return Err(ConsoleError::invalid("There is no column to export"));
    }
    let mut statement = Statement::new("select ");
    statement.expression(&match request.format {
        ExportFormat::Spreadsheet => join(&columns, spreadsheet_cell),
        ExportFormat::Csv => join(&columns, reference),
        ExportFormat::Json => json_object(&columns),
        ExportFormat::Sql => insert_row(table, &columns),
    });
    statement
        .sql(" from ")
        .qualified(&table.schema, &table.name)
        .sql(" as t where ");
    push_filters(&mut statement, table, &request.filters)?;
    push_row_limit(&mut statement, table, &columns, &request.filters)?;
    // Without a wish the rows come as they are stored: a sort of the whole table would only cost time.
    if !request.sort.is_empty() {
        let keys = order_of(table, &request.sort)?;
        statement.sql(" order by ");
        push_order(
            &mut statement,
            &keys,
            keys.iter().map(|key| key.expression.as_str()),
        );
    }
    Ok(statement.readable().to_owned())
}

fn join(columns: &[&ColumnShape], expression: impl Fn(&ColumnShape) -> String) -> String {
    columns
        .iter()
        .map(|column| expression(column))
        .collect::<Vec<_>>()
        .join(", ")
}

fn reference(column: &ColumnShape) -> String {
    format!("t.{}", quote_identifier(&column.name))
}

/// Characters that spreadsheets take for the beginning of a formula. The last four are full-width forms, which some programs
/// treat alike. Some programs skip tabs and line breaks, so that a formula may follow them.
const FORMULA_STARTS: [char; 11] = [
    '=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
];

/// A negative number as PostgreSQL writes it, which spreadsheets read as the number that it is.
const NEGATIVE_NUMBER: &str = "^-([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$";

/// PostgreSQL writes no longer number, and a pattern on a long text takes a lot of memory.
const LONGEST_NUMBER: u32 = 200_000;

/// A cell with an apostrophe before what a spreadsheet would take for a formula. Negative numbers stay as they are.
fn spreadsheet_cell(column: &ColumnShape) -> String {
    // A comparison by bytes, because PostgreSQL searches no text whose collation is not deterministic.
    let text = format!(
        "({}::pg_catalog.text collate pg_catalog.\"C\")",
        reference(column)
    );
    let title = if column.name.starts_with(FORMULA_STARTS) {
        format!("'{}", column.name)
    } else {
        column.name.clone()
    };
    let starts = quote_literal(&FORMULA_STARTS.iter().collect::<String>());
    format!(
        "case when {text} <> '' and pg_catalog.strpos({starts}, pg_catalog.left({text}, 1)) > 0 \
         and (pg_catalog.octet_length({text}) > {LONGEST_NUMBER} or {text} !~ '{NEGATIVE_NUMBER}') then '''' || {text} else {text} end as {}",
        quote_identifier(&title)
    )
}

/// One JSON object of a row. A subquery names the members, because functions take at most 100 arguments.
fn json_object(columns: &[&ColumnShape]) -> String {
    format!(
        "(select pg_catalog.row_to_json(r)::pg_catalog.text from (select {}) as r)",
        join(columns, reference)
    )
}

/// One `insert` of a row. Generated columns are left out, because PostgreSQL computes them again.
fn insert_row(table: &TableShape, columns: &[&ColumnShape]) -> String {
    let written: Vec<&ColumnShape> = columns
        .iter()
        .copied()
        .filter(|column| !column.generated)
        .collect();
    let target = format!(
        "insert into {}.{}",
        quote_identifier(&table.schema),
        quote_identifier(&table.name)
    );
    if written.is_empty() {
        return quote_literal(&format!("{target} default values;"));
    }
    let overriding = if written.iter().any(|column| column.always_identity) {
        " overriding system value"
    } else {
        ""
    };
    let names = join(&written, |column| quote_identifier(&column.name));
    let values = written
        .iter()
        .map(|column| {
            format!(
                "pg_catalog.quote_nullable({}::pg_catalog.text)",
                reference(column)
            )
        })
        .collect::<Vec<_>>()
        .join(" || ', ' || ");
    format!(
        "{} || {values} || ');'",
        quote_literal(&format!("{target} ({names}){overriding} values ("))
    )
}
