//! `POST /api/rows/export`: a ticket for one download.

use std::time::Instant;

use actix_web::{HttpResponse, web};
use serde_json::json;
use tokio_postgres::Transaction;

use super::row_limit::check_rows;
use super::statement::select_statement;
use super::ticket::{ExportRequest, LIFETIME};
use crate::error::ConsoleError;
use crate::rows::read::choose_columns;
use crate::rows::table::find_table;
use crate::session::Session;
use crate::state::ConsoleState;
use crate::subject::{begin_reading_as, connect_as_caller};

/// `POST /api/rows/export`
pub(in crate::rows) async fn create_ticket(
    state: web::Data<ConsoleState>,
    session: Session,
    request: web::Json<ExportRequest>,
) -> Result<HttpResponse, ConsoleError> {
    let request = request.into_inner();
    request.subject.check_level(&session)?;
    match request.subject.role_and_claims() {
        None => {
            let mut client = state.database.connection(session.level).await?;
            let transaction = client.build_transaction().read_only(true).start().await?;
            check_statement(&transaction, &request).await?;
        }
        Some((role, claims)) => {
            let database = state.database.shared();
            let mut client = connect_as_caller(database).await?;
            let transaction = begin_reading_as(&mut client, database, &role, &claims).await?;
            check_statement(&transaction, &request).await?;
        }
    }
    let ticket = state.export_tickets.add(session, request, Instant::now())?;
    Ok(HttpResponse::Ok().json(json!({ "ticket": ticket, "expires_in": LIFETIME.as_secs() })))
}

/// Lets PostgreSQL plan the statement, which checks names, values and rights. A browser shows no more of a download that is
/// refused than that it failed, so what is wrong has to be said before.
async fn check_statement(transaction: &Transaction<'_>, request: &ExportRequest) -> Result<(), ConsoleError> {
    let table = find_table(transaction, &request.table).await?;
    let select = select_statement(&table, request)?;
    transaction.batch_execute(&format!("explain {select}")).await?;
    let columns = choose_columns(&table, request.columns.as_deref())?;
    check_rows(transaction, &table, &columns, &request.filters).await
}
