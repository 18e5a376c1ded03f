//! Reads rows of a table as text, and puts rows together as a write would store them.

use std::collections::BTreeMap;
use std::fmt::Write;

use selvedge_postgres::quote_identifier;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, GenericClient};

use super::expression::row_type;
use crate::SimulationError;
use crate::catalog::{Column, Table};
use crate::request::{Condition, Page, RowId};

/// A stored row with its identity, and the text of each column in the table's order.
#[derive(Debug, Clone)]
pub(crate) struct StoredRow {
    pub(crate) id: Option<RowId>,
    pub(crate) values: Vec<Option<String>>,
}

impl StoredRow {
    /// Returns the values of the primary key in the key's order, or `None` when the table has no key.
    pub(crate) fn key(&self, table: &Table) -> Option<Vec<String>> {
        key_values(table, &self.values)
    }
}

fn key_values(table: &Table, values: &[Option<String>]) -> Option<Vec<String>> {
    let value = |name: &String| {
        let place = table.columns.iter().position(|column| column.name == *name)?;
        values[place].clone()
    };
    table.key.iter().map(value).collect()
}

/// Reads at most `limit` rows as the owner, in the order of the request and then of their key.
///
/// # Errors
/// Unknown columns of the order, and PostgreSQL's errors.
pub(crate) async fn read_rows(
    owner: &impl GenericClient,
    table: &Table,
    condition: &Condition,
    page: &Page,
    limit: usize,
) -> Result<Vec<StoredRow>, SimulationError> {
    // Only tables have the system columns that say where a row is and which transaction wrote it.
    let has_place = matches!(table.kind.as_str(), "r" | "p");
    let mut sql = match has_place {
        true => String::from("select array[tableoid::text, ctid::text, xmin::text], array["),
        false => String::from("select array[]::text[], array["),
    };
    sql.push_str(&column_texts(table));
    write!(
        sql,
        "]::text[] from {}{}{} limit {limit}",
        row_type(table),
        condition.where_clause(),
        page.order_by(table, &table.key)?
    )
    .expect("writing to a string");
    let params: Vec<&(dyn ToSql + Sync)> = condition.params.iter().map(|param| param as _).collect();
    let rows = owner.query(&sql, &params).await?;
    let rows = rows.iter().map(|row| {
        let values: Vec<Option<String>> = row.get(1);
        StoredRow {
            id: row_id(table, row.get(0), &values),
            values,
        }
    });
    Ok(rows.collect())
}

/// Writes the columns as texts, for the list of a SELECT or RETURNING.
pub(crate) fn column_texts(table: &Table) -> String {
    let texts: Vec<String> = table
        .columns
        .iter()
        .map(|column| format!("{}::text", quote_identifier(&column.name)))
        .collect();
    texts.join(", ")
}

fn row_id(table: &Table, place: Vec<String>, values: &[Option<String>]) -> Option<RowId> {
    let mut place = place.into_iter();
    let (tableoid, ctid, xmin) = (place.next(), place.next(), place.next());
    match key_values(table, values).filter(|key| !key.is_empty()) {
        // An update changes the ctid of a row, but not its key.
        Some(key) => Some(RowId::Key { key, xmin }),
        None => Some(RowId::Place {
            tableoid: tableoid?,
            ctid: ctid?,
            xmin,
        }),
    }
}

/// Writes the row as a literal of the table's row type.
pub(crate) fn row_literal(values: &[Option<String>]) -> String {
    let fields = values.iter().map(|value| match value {
        Some(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\"\"")),
        None => String::new(),
    });
    format!("({})", fields.collect::<Vec<_>>().join(","))
}

/// Builds the row that a write would store: `base` (the stored row, or nothing) with the values that are set, the
/// defaults of the others, and computed generated columns. Defaults are evaluated as the subject, so that `default
/// auth.uid()` is his id; the next number of a sequence is read without being used up.
///
/// # Errors
/// [`SimulationError::Invalid`] for an unknown column; PostgreSQL's errors for values that their types refuse.
pub(crate) async fn build_new_row(
    owner: &impl GenericClient,
    caller: &impl GenericClient,
    table: &Table,
    base: Option<&[Option<String>]>,
    values: &BTreeMap<String, Option<String>>,
) -> Result<Vec<Option<String>>, SimulationError> {
    for name in values.keys() {
        table.column(name)?;
    }
    let mut row = Vec::with_capacity(table.columns.len());
    for (place, column) in table.columns.iter().enumerate() {
        // Values that are set come first, then those of the stored row, then defaults.
        let value = match (values.get(&column.name), base) {
            (Some(value), _) => value.clone(),
            (None, Some(base)) => base[place].clone(),
            (None, None) => default_value(owner, caller, column).await?,
        };
        row.push(value);
    }
    if table.columns.iter().any(|column| column.is_generated) {
        row = compute_generated(caller, table, row).await?;
    } else {
        // The input functions of the columns' types read the values now, so that a wrong one is named as such.
        let sql = format!("select $1::text::{} is null", row_type(table));
        caller.query(&sql, &[&row_literal(&row)]).await?;
    }
    Ok(row)
}

async fn default_value(
    owner: &impl GenericClient,
    caller: &impl GenericClient,
    column: &Column,
) -> Result<Option<String>, Error> {
    if column.is_generated {
        return Ok(None);
    }
    // nextval() would fail in a read-only transaction, and a number that is taken is lost to others.
    if let Some(sequence) = &column.sequence {
        let sql = format!(
            "select (s.last_value + case when s.is_called then q.increment_by else 0 end)::text \
             from {sequence} s join pg_sequences q \
             on format('%I.%I', q.schemaname, q.sequencename)::regclass = '{}'::regclass",
            sequence.replace('\'', "''")
        );
        return Ok(owner.query_one(&sql, &[]).await?.get(0));
    }
    match &column.default {
        None => Ok(None),
        Some(expression) => Ok(caller
            .query_one(&format!("select ({expression})::text"), &[])
            .await?
            .get(0)),
    }
}

/// Computes the generated columns of a row from its other columns.
async fn compute_generated(
    caller: &impl GenericClient,
    table: &Table,
    row: Vec<Option<String>>,
) -> Result<Vec<Option<String>>, Error> {
    let list: Vec<String> = table
        .columns
        .iter()
        .map(|column| match &column.default {
            Some(expression) if column.is_generated => format!("({expression})::text"),
            _ => format!("{}::text", quote_identifier(&column.name)),
        })
        .collect();
    let sql = format!(
        "select array[{}]::text[] from unnest(array[$1]::text[]::{}[]) as {}",
        list.join(", "),
        row_type(table),
        quote_identifier(&table.name)
    );
    Ok(caller.query_one(&sql, &[&row_literal(&row)]).await?.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_literals_keep_quotes_backslashes_and_nulls() {
        let values = [Some(String::new()), None, Some("a\"b\\c".into())];

        assert_eq!(row_literal(&values), r#"("",,"a""b\\c")"#);
    }
}
