//! `POST /api/rows/cell`: the whole value of a cell that a page has cut.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use tokio_postgres::Transaction;

use crate::error::ConsoleError;
use crate::rows::request::RowId;
use crate::rows::sql::{Statement, push_row, size_expression, whole_cell_expression};
use crate::rows::table::find_table;
use crate::session::Session;
use crate::state::ConsoleState;
use crate::subject::{Subject, begin_reading_as, connect_as_caller};

/// A longer value is read with SQL or exported: a browser could not show it, and it would fill the server's memory.
const LONGEST_CELL: usize = 64_000_000;

/// The body of a request for one cell: its table, its row and its column.
#[derive(Deserialize)]
pub(in crate::rows) struct CellRequest {
    table: String,
    row: RowId,
    column: String,
    #[serde(default)]
    subject: Subject,
}

/// `POST /api/rows/cell`
pub(in crate::rows) async fn read_cell(
    state: web::Data<ConsoleState>,
    session: Session,
    request: web::Json<CellRequest>,
) -> Result<HttpResponse, ConsoleError> {
    request.subject.check_level(&session)?;
    match request.subject.role_and_claims() {
        None => {
            let mut client = state.database.connection(session.level).await?;
            let transaction = client.build_transaction().read_only(true).start().await?;
            read_value(&transaction, &request).await
        }
        Some((role, claims)) => {
            let database = state.database.shared();
            let mut client = connect_as_caller(database).await?;
            let transaction = begin_reading_as(&mut client, database, &role, &claims).await?;
            read_value(&transaction, &request).await
        }
    }
}

async fn read_value(
    transaction: &Transaction<'_>,
    request: &CellRequest,
) -> Result<HttpResponse, ConsoleError> {
    let table = find_table(transaction, &request.table).await?;
    let column = table
        .column(&request.column)
        .ok_or_else(|| ConsoleError::not_found("The column does not exist any more"))?;
    // The length of the text is compared, because the stored value may be compressed to a hundredth of it.
    let mut statement = Statement::new("select case when (");
    statement
        .expression(&size_expression(column, LONGEST_CELL))
        .sql(") is null then ")
        .expression(&whole_cell_expression(column))
        .sql(" end, t.")
        .name(&column.name)
        .sql(" is null from ");
    statement
        .qualified(&table.schema, &table.name)
        .sql(" as t where ");
    push_row(&mut statement, &table, &request.row, None)?;
    let rows = transaction
        .query_typed(statement.text(), &statement.parameters())
        .await?;
    let row = rows
        .first()
        .ok_or_else(|| ConsoleError::not_found("The row does not exist any more"))?;
    // The query returns null both for null and for a value that is too long; a second column distinguishes them.
    match row.get::<_, Option<String>>(0) {
        Some(text) => Ok(HttpResponse::Ok()
            .content_type("text/plain; charset=utf-8")
            .body(text)),
        None if row.get(1) => Ok(HttpResponse::NoContent().finish()),
        None => {
            Err(ConsoleError::invalid("The value is longer than 64 MB").with_hint("Export the row instead"))
        }
    }
}
