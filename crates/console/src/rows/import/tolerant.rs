//! An import that skips the rows that PostgreSQL refuses. COPY cannot continue after an error, so the file is copied as text into
//! a temporary table, and from there inserted in batches. A refused batch is halved until the refused row is alone.

use selvedge_introspection::{ColumnShape, TableShape};
use selvedge_postgres::{quote_identifier, quote_literal};
use tokio_postgres::Transaction;

use super::records::Reject;
use crate::error::ConsoleError;

/// Rows per INSERT.
const BATCH: i64 = 5000;
/// The largest number of refused rows; with more, the file probably does not match the table, and the import is rejected.
pub(super) const MOST_REJECTS: usize = 10_000;

const STAGING: &str = "pg_temp.selvedge_import";

/// Creates the temporary table with this many columns.
pub(super) async fn create_staging(
    transaction: &Transaction<'_>,
    columns: usize,
) -> Result<(), ConsoleError> {
    // All columns are text, so that COPY accepts every value and only the INSERT of its row fails.
    let values: Vec<String> = (0..columns).map(|index| format!("c{index} text")).collect();
    let sql = format!(
        "create temporary table selvedge_import (number bigint, line bigint, {}) on commit drop",
        values.join(", ")
    );
    Ok(transaction.batch_execute(&sql).await?)
}

/// Writes the COPY statement that fills the temporary table.
pub(super) fn copy_statement(delimiter: u8, null: &str) -> String {
    format!(
        "copy {STAGING} from stdin (format csv, delimiter {}, null {})",
        quote_literal(&char::from(delimiter).to_string()),
        quote_literal(null),
    )
}

/// Inserts the rows of the temporary table, adds those that PostgreSQL refuses to `rejects`, and returns the number of inserted
/// rows.
///
/// # Errors
/// When more than [`MOST_REJECTS`] rows are refused, or an error has another cause than a row's values, such as privileges.
pub(super) async fn insert_staged(
    transaction: &mut Transaction<'_>,
    table: &TableShape,
    names: &[String],
    count: i64,
    rejects: &mut Vec<Reject>,
) -> Result<u64, ConsoleError> {
    // Deferred constraints would fail the whole transaction at COMMIT, so they are checked with each INSERT.
    transaction
        .batch_execute(&format!(
            "set constraints all immediate; create unique index on {STAGING} (number)"
        ))
        .await?;
    let statement = insert_statement(table, names)?;
    // Ranges of rows that are still to be inserted: halves of refused batches, the next one at the end.
    let mut waiting: Vec<(i64, i64)> = Vec::new();
    let mut inserted = 0;
    let mut first = 1;
    while first <= count || !waiting.is_empty() {
        let (from, to) = waiting.pop().unwrap_or_else(|| {
            let next = (first, (first + BATCH - 1).min(count));
            first += BATCH;
            next
        });
        // Without a savepoint a refused statement would abort the whole transaction.
        let savepoint = transaction.transaction().await?;
        match savepoint.execute(&statement, &[&from, &to]).await {
            Ok(rows) => {
                savepoint.commit().await?;
                inserted += rows;
            }
            Err(error) => {
                savepoint.rollback().await?;
                let refused = ConsoleError::from(error);
                if !is_caused_by_row(refused.code()) {
                    return Err(refused);
                }
                if from == to {
                    rejects.push(read_reject(transaction, names.len(), from, &refused).await?);
                    check_count(rejects)?;
                } else {
                    // The first half is pushed last, because it is inserted next: rows are inserted in the order of the file.
                    let middle = i64::midpoint(from, to);
                    waiting.extend([(middle + 1, to), (from, middle)]);
                }
            }
        }
    }
    Ok(inserted)
}

/// Rejects the import when more than [`MOST_REJECTS`] rows are refused.
pub(super) fn check_count(rejects: &[Reject]) -> Result<(), ConsoleError> {
    let Some(first) = rejects.first().filter(|_| rejects.len() > MOST_REJECTS) else {
        return Ok(());
    };
    let reason = format!(
        "More than {MOST_REJECTS} rows are faulty, and nothing was imported. The first: {}",
        first.message
    );
    Err(ConsoleError::invalid(reason).with("line", serde_json::json!(first.line)))
}

/// Whether an SQLSTATE is caused by a row's values: data exceptions, integrity violations, and errors raised by triggers.
fn is_caused_by_row(code: &str) -> bool {
    ["22", "23", "44", "P0"]
        .iter()
        .any(|class| code.starts_with(class))
}

fn insert_statement(table: &TableShape, names: &[String]) -> Result<String, ConsoleError> {
    let find = |name: &String| {
        let found = table.columns.iter().find(|column| column.name == *name);
        found.ok_or_else(|| ConsoleError::invalid(format!("There is no column {name}")))
    };
    let columns = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    // The casts have no length: a cast to varchar(n) would silently truncate a value that the column refuses.
    let cast = |(index, column): (usize, &&ColumnShape)| format!("c{index}::{}", column.cast_type);
    let values: Vec<String> = columns.iter().enumerate().map(cast).collect();
    let targets: Vec<String> = names.iter().map(|name| quote_identifier(name)).collect();
    // As COPY does, values of identity columns are taken from the file.
    Ok(format!(
        "insert into {}.{} ({}) overriding system value select {} from {STAGING}
         where number between $1 and $2 order by number",
        quote_identifier(&table.schema),
        quote_identifier(&table.name),
        targets.join(", "),
        values.join(", "),
    ))
}

async fn read_reject(
    transaction: &Transaction<'_>,
    columns: usize,
    number: i64,
    refused: &ConsoleError,
) -> Result<Reject, ConsoleError> {
    let row = transaction
        .query_one(&format!("select * from {STAGING} where number = $1"), &[&number])
        .await?;
    let text = |name: &str| refused.member(name).and_then(|value| value.as_str());
    let message = [text("message"), text("details")].into_iter().flatten();
    Ok(Reject {
        line: row.get(1),
        message: message.collect::<Vec<_>>().join(". "),
        values: (0..columns).map(|index| row.get(index + 2)).collect(),
    })
}
