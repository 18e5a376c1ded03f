//! `POST /api/rows/read`: a page of a table.

use std::time::Instant;

use actix_web::{HttpResponse, web};
use selvedge_introspection::TableShape;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Row, Transaction};

use super::cursor::Cursor;
use super::statement::{PagePlan, PagePosition, PageQuery, has_index, plan_page};
use crate::error::ConsoleError;
use crate::rows::request::{Filter, Sort};
use crate::rows::sql::CELL_BYTES;
use crate::rows::table::find_table;
use crate::session::Session;
use crate::state::ConsoleState;
use crate::subject::{Subject, begin_reading_as, connect_as_caller};

/// The rows of a page when the request names no number.
const DEFAULT_PAGE_ROWS: u32 = 100;
/// The most rows that a request may ask for.
const MAX_PAGE_ROWS: u32 = 1000;

/// A page is read in this time or not at all: a sort without an index over a large table must not occupy the database.
const READ_TIMEOUT: &str = "set local statement_timeout = '5s'";
const TIMEOUT_HINT: &str = "A page that takes longer than 5 s is given up. Filter or sort by a column that has an index; if \
    another transaction holds the table, pg_stat_activity names it.";

/// The body of a request for a page. At most one of `after`, `before` and `end` says where the page begins.
#[derive(Deserialize)]
pub(in crate::rows) struct ReadRequest {
    table: String,
    #[serde(default)]
    columns: Option<Vec<String>>,
    #[serde(default)]
    filters: Vec<Filter>,
    #[serde(default)]
    sort: Vec<Sort>,
    #[serde(default)]
    limit: Option<u32>,
    #[serde(default)]
    after: Option<String>,
    #[serde(default)]
    before: Option<String>,
    #[serde(default)]
    end: bool,
    #[serde(default)]
    subject: Subject,
}

/// `POST /api/rows/read`
pub(in crate::rows) async fn read_rows(
    state: web::Data<ConsoleState>,
    session: Session,
    request: web::Json<ReadRequest>,
) -> Result<HttpResponse, ConsoleError> {
    let request = request.into_inner();
    request.subject.check_level(&session)?;
    let answer = match request.subject.role_and_claims() {
        None => {
            let mut client = state.database.connection(session.level).await?;
            let transaction = client.build_transaction().read_only(true).start().await?;
            read_page(&transaction, &request).await?
        }
        Some((role, claims)) => {
            let database = state.database.shared();
            let mut client = connect_as_caller(database).await?;
            let transaction = begin_reading_as(&mut client, database, &role, &claims).await?;
            read_page(&transaction, &request).await?
        }
    };
    Ok(HttpResponse::Ok().json(answer))
}

async fn read_page(transaction: &Transaction<'_>, request: &ReadRequest) -> Result<Value, ConsoleError> {
    transaction.batch_execute(READ_TIMEOUT).await?;
    let table = find_table(transaction, &request.table).await?;
    let plan = plan_page(
        &table,
        &PageQuery {
            columns: request.columns.as_deref(),
            filters: &request.filters,
            sort: &request.sort,
            limit: request.limit.unwrap_or(DEFAULT_PAGE_ROWS).clamp(1, MAX_PAGE_ROWS),
            after: request.after.as_deref(),
            before: request.before.as_deref(),
            end: request.end,
        },
    )?;
    let start = Instant::now();
    let rows = transaction
        .query_typed(plan.statement.text(), &plan.statement.parameters())
        .await
        .map_err(explain_timeout)?;
    let elapsed_ms = start.elapsed().as_secs_f64() * 1000.0;
    let (rows, next, previous) = take_page(&plan, rows);
    let mut answer = render(&table, &plan, &rows);
    answer["next"] = json!(next);
    answer["previous"] = json!(previous);
    answer["index_used"] = json!(has_index(&table, &request.sort));
    answer["elapsed_ms"] = json!(elapsed_ms);
    Ok(answer)
}

/// Adds [`TIMEOUT_HINT`] to a statement timeout.
fn explain_timeout(error: tokio_postgres::Error) -> ConsoleError {
    let is_timeout = error.code() == Some(&SqlState::QUERY_CANCELED);
    let explained = ConsoleError::from(error);
    if is_timeout {
        explained.with_hint(TIMEOUT_HINT)
    } else {
        explained
    }
}

/// Cuts the fetched rows to the page, restores the order that was asked for, and returns the cursors of the next and
/// the previous page.
fn take_page(plan: &PagePlan<'_>, rows: Vec<Row>) -> (Vec<Row>, Option<String>, Option<String>) {
    let shown = plan.position.cursor().map_or(0, |cursor| cursor.shown as usize);
    let mut rows: Vec<Row> = rows.into_iter().skip(shown).collect();
    let has_more = rows.len() > plan.limit as usize;
    rows.truncate(plan.limit as usize);
    // Rows are still in the order in which they were read, so the last one leads on and the first one leads back.
    let onward = if has_more {
        rows.last().and_then(|_| place_behind(plan, &rows))
    } else {
        None
    };
    let backward = match plan.position {
        PagePosition::Start | PagePosition::End => None,
        PagePosition::After(_) | PagePosition::Before(_) => rows.first().and_then(|row| {
            Cursor {
                values: row.get("place"),
                shown: 0,
            }
            .encode()
        }),
    };
    if plan.position.is_backward() {
        rows.reverse();
        (rows, backward, onward)
    } else {
        (rows, onward, backward)
    }
}

/// Returns the cursor after the last row. If equal rows can repeat, it contains the number of those already shown.
fn place_behind(plan: &PagePlan<'_>, rows: &[Row]) -> Option<String> {
    let values: Vec<Option<String>> = rows.last()?.get("place");
    // Only rows of views can be equal in every part of the order.
    let repeats = plan.keys.last().is_some_and(|key| key.repeats);
    let mut shown = 0;
    if repeats {
        let same = |row: &&Row| row.get::<_, Vec<Option<String>>>("place") == values;
        shown = rows.iter().rev().take_while(same).count() as u32;
        let before = plan.position.cursor().filter(|cursor| cursor.values == values);
        shown += before.map_or(0, |cursor| cursor.shown);
    }
    Cursor { values, shown }.encode()
}

fn render(table: &TableShape, plan: &PagePlan<'_>, rows: &[Row]) -> Value {
    // Values stand in rows without their names, which would be repeated for each of them.
    let columns: Vec<Value> = plan
        .columns
        .iter()
        .map(|column| json!({ "name": column.name, "type": column.r#type }))
        .collect();
    let mut cuts = Vec::new();
    let mut texts = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let mut cells: Vec<Option<String>> = row.get("cells");
        let sizes: Vec<Option<i64>> = row.get("sizes");
        for (column, (cell, size)) in cells.iter_mut().zip(sizes).enumerate() {
            if let (Some(cell), Some(size)) = (cell, size) {
                // PostgreSQL counts characters, and the limit is in bytes.
                cell.truncate(cell.floor_char_boundary(CELL_BYTES));
                cuts.push(json!({ "row": index, "column": plan.columns[column].name, "bytes": size }));
            }
        }
        texts.push(cells);
    }
    let ids: Vec<Value> = rows.iter().map(|row| render_identity(table, row)).collect();
    json!({ "columns": columns, "rows": texts, "ids": ids, "cuts": cuts, "sql": plan.readable })
}

/// The row's identity in the form that [`crate::rows::request::RowId`] reads when a change is sent.
fn render_identity(table: &TableShape, row: &Row) -> Value {
    let Some(mut parts) = row.get::<_, Option<Vec<String>>>("identity") else {
        return json!({});
    };
    let xmin = parts.pop();
    match &parts[..] {
        [tableoid, ctid] if table.key.is_empty() => {
            json!({ "tableoid": tableoid, "ctid": ctid, "xmin": xmin })
        }
        key => json!({ "key": key, "xmin": xmin }),
    }
}
