//! `GET /api/rows/export/{ticket}`: the rows as a file.

use std::time::{Duration, Instant};

use actix_web::http::header;
use actix_web::{HttpResponse, web};
use bytes::BytesMut;
use futures_util::StreamExt as _;
use tokio_postgres::Transaction;
use tokio_postgres::binary_copy::BinaryCopyOutStream;
use tokio_postgres::types::Type;

use super::format::{ExportFormat, file_name};
use super::output::{Output, connect};
use super::priority::{find_backend, lower_priority_when_busy};
use super::row_limit;
use super::statement::copy_statement;
use super::ticket::ExportRequest;
use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::rows::table::find_table;
use crate::session::Session;
use crate::state::ConsoleState;
use crate::subject::{begin_reading_as, connect_as_caller};

/// An export may take longer than a page, but not for ever.
const EXPORT_TIMEOUT: &str = "set local statement_timeout = '1h'";
/// The export is aborted when the client reads nothing for so long.
const STALL_LIMIT: Duration = Duration::from_secs(60);

/// `GET /api/rows/export/{ticket}`
pub(in crate::rows) async fn download_export(
    state: web::Data<ConsoleState>,
    session: Session,
    ticket: web::Path<String>,
) -> Result<HttpResponse, ConsoleError> {
    let request = state.export_tickets.take(&ticket, &session, Instant::now())?;
    let permit = state.permit_statement(&session)?;
    let format = request.format;
    let (mut output, mut download) = connect(STALL_LIMIT);
    // A separate task, because the connection must exist until the last byte is sent, and this function returns with the
    // first.
    actix_web::rt::spawn(async move {
        match run_export(&state, &session, &request, &mut output).await {
            Ok(true) => output.finish(),
            Ok(false) => drop(output),
            Err(error) => output.fail(error),
        }
        drop(permit);
    });
    let name = download.name().await?;
    Ok(HttpResponse::Ok()
        .content_type(format.media_type())
        .insert_header((
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ))
        .streaming(download.body()))
}

/// Opens a new connection and exports on it as the request's subject. Returns false when the client has disconnected.
async fn run_export(
    state: &ConsoleState,
    session: &Session,
    request: &ExportRequest,
    output: &mut Output,
) -> Result<bool, ConsoleError> {
    match request.subject.role_and_claims() {
        None => {
            let mut client = state.database.dedicated(session.level).await?;
            let transaction = client.build_transaction().read_only(true).start().await?;
            export_rows(state, session, &transaction, request, output).await
        }
        Some((role, claims)) => {
            let database = state.database.shared();
            let mut client = connect_as_caller(database).await?;
            let transaction = begin_reading_as(&mut client, database, &role, &claims).await?;
            export_rows(state, session, &transaction, request, output).await
        }
    }
}

/// Streams the rows, and cancels the statement when the client disconnects.
async fn export_rows(
    state: &ConsoleState,
    session: &Session,
    transaction: &Transaction<'_>,
    request: &ExportRequest,
    output: &mut Output,
) -> Result<bool, ConsoleError> {
    transaction.batch_execute(EXPORT_TIMEOUT).await?;
    let table = find_table(transaction, &request.table).await?;
    let statement = copy_statement(&table, request)?;
    let target = format!("{}.{}", table.schema, table.name);
    // An entry comes before the rows, because those that were sent cannot be taken back.
    let entry = AuditEntry::new("rows.export", &target)
        .with_statement(&statement)
        .with_result("started");
    audit::record(state, session, entry).await?;
    let backend = find_backend(state, transaction).await?;
    // Dropping the transaction alone would leave the backend at work until it next writes to the socket.
    let canceller = transaction.cancel_token();
    let watch = output.watch();
    let mut rows = 0;
    let finished = tokio::select! {
        finished = copy_rows(transaction, &statement, &table.name, request.format, output, &mut rows) => finished.map_err(row_limit::explain),
        () = watch.closed() => Ok(false),
        never = lower_priority_when_busy(backend) => match never {},
    };
    let result = match finished {
        Ok(true) => "ok",
        Ok(false) => "interrupted",
        Err(_) => "failed",
    };
    if let Ok(false) = finished {
        state.database.shared().cancel_statement(&canceller).await;
    }
    let entry = AuditEntry::new("rows.export", &target)
        .with_rows(rows)
        .with_result(result);
    // The client has received the rows already, so a failure to write the second audit entry does not fail the download.
    if let Err(error) = audit::record(state, session, entry).await {
        tracing::warn!(%error, target, rows, result, "the end of an export is not in the audit");
    }
    finished
}

/// Runs the statement, sends its file and counts its rows; false when the client takes no more.
async fn copy_rows(
    transaction: &Transaction<'_>,
    statement: &str,
    table: &str,
    format: ExportFormat,
    output: &mut Output,
    count: &mut i64,
) -> Result<bool, ConsoleError> {
    let rows = transaction.copy_out(statement).await?;
    output.begin(file_name(table, format));
    // Rows are small and chunks of a body are not free, so rows are collected before they are sent.
    let mut portion = BytesMut::from(format.start());
    if format.is_csv() {
        let mut rows = std::pin::pin!(rows);
        // PostgreSQL sends the header and each row as a message of its own.
        *count = -1;
        while let Some(bytes) = rows.next().await {
            portion.extend_from_slice(&bytes?);
            *count += 1;
            if !output.send_full(&mut portion).await {
                return Ok(false);
            }
        }
    } else {
        let mut rows = std::pin::pin!(BinaryCopyOutStream::new(rows, &[Type::TEXT]));
        let mut is_first = true;
        while let Some(row) = rows.next().await {
            portion.extend_from_slice(format.before_row(is_first).as_bytes());
            portion.extend_from_slice(row?.try_get::<&str>(0)?.as_bytes());
            portion.extend_from_slice(format.after_row().as_bytes());
            is_first = false;
            *count += 1;
            if !output.send_full(&mut portion).await {
                return Ok(false);
            }
        }
    }
    portion.extend_from_slice(format.end().as_bytes());
    Ok(portion.is_empty() || output.send(portion.freeze()).await)
}
