//! Which cell is at fault when PostgreSQL refuses a change (CONSOLE-054).

use std::collections::HashMap;

use selvedge_introspection::TableShape;
use serde_json::json;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use crate::error::ConsoleError;
use crate::rows::request::{Cell, Cells, Change};

/// Finds the columns of a constraint by its name, or by the name of its index.
const CONSTRAINT_COLUMNS: &str = "select a.attname::text
    from pg_catalog.pg_constraint k
    join pg_catalog.pg_attribute a on a.attrelid = k.conrelid and a.attnum = any (k.conkey)
    where k.conrelid = $1::text::oid and k.conname = $2::text
    order by a.attnum";

/// Adds to the error which change failed, and the column if known. The transaction has ended before.
pub(super) async fn explain(
    client: &Client,
    error: ConsoleError,
    index: usize,
    change: &Change,
    tables: &HashMap<String, TableShape>,
) -> ConsoleError {
    let values = match change {
        Change::Insert { values, .. }
        | Change::Update { values, .. }
        | Change::UpdateMatching { values, .. } => values,
        Change::Delete { .. } => return error.with("change", json!(index)),
    };
    let column = match tables.get(change.table()) {
        Some(table) => find_column(client, &error, table, values).await.ok().flatten(),
        None => None,
    };
    let error = error.with("change", json!(index));
    match column {
        Some(column) => error.with("column", json!(column)),
        None => error,
    }
}

async fn find_column(
    client: &Client,
    error: &ConsoleError,
    table: &TableShape,
    values: &Cells,
) -> Result<Option<String>, Error> {
    if let Some(column) = error.member("column").and_then(|column| column.as_str()) {
        return Ok(Some(column.to_owned()));
    }
    // The column was dropped or renamed since the change was staged.
    if let Some(dropped) = values.keys().find(|name| table.column(name).is_none()) {
        return Ok(Some(dropped.clone()));
    }
    if let Some(constraint) = error.member("constraint").and_then(|name| name.as_str()) {
        let rows = client
            .query(CONSTRAINT_COLUMNS, &[&table.oid, &constraint])
            .await?;
        // Of a constraint over several columns, one that was just written is the likeliest.
        let names: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let written = names.iter().find(|name| values.contains_key(*name));
        return Ok(written.or(names.first()).cloned());
    }
    for (name, cell) in values {
        let (Some(column), Cell::Value { value: Some(value) }) = (table.column(name), cell) else {
            continue;
        };
        let test = format!("select ($1::pg_catalog.text::{}) is null", column.cast_type);
        if client.query_typed(&test, &[(value, Type::TEXT)]).await.is_err() {
            return Ok(Some(name.clone()));
        }
    }
    // A value that is too long or too large fits its type, but not the column's length, which the message names.
    let message = error.to_string();
    let named = values.keys().find(|name| {
        let of_column = table.column(name).map(|column| column.r#type.as_str());
        of_column.is_some_and(|r#type| r#type.contains('(') && message.contains(r#type))
    });
    Ok(named.cloned())
}
