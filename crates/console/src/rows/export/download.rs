//! `GET /api/rows/export/{ticket}`: the rows as a file.

use std::time::{Duration, Instant};

use actix_web::http::header;
use actix_web::{HttpResponse, web};
use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, stream};
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::Transaction;
use tokio_postgres::binary_copy::BinaryCopyOutStream;
use tokio_postgres::types::Type;

use super::format::{ExportFormat, file_name};
use super::statement::copy_statement;
use super::ticket::{ExportRequest, take_ticket};
use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::rows::table::find_table;
use crate::session::Session;
use crate::state::ConsoleState;
use crate::subject::{begin_reading_as, connect_as_caller};

/// An export may take longer than a page, but not for ever.
const EXPORT_TIMEOUT: &str = "set local statement_timeout = '1h'";
/// The portions that wait for a slow client before PostgreSQL is made to wait, too.
const WAITING_PORTIONS: usize = 4;
/// Rows are collected to portions of about this size.
const PORTION_BYTES: usize = 64 * 1024;
/// A client that takes nothing for so long is given up.
const STALL_LIMIT: Duration = Duration::from_secs(60);

/// The export ended before its last row; the body then ends without its last chunk, which clients notice.
#[derive(Debug, thiserror::Error)]
#[error("the export ended before its last row")]
struct Interrupted;

type Portion = Result<Bytes, Interrupted>;

/// Where an export's file goes to: first its name, or the error, then its portions.
struct Output {
    begun: Option<oneshot::Sender<Result<String, ConsoleError>>>,
    portions: mpsc::Sender<Portion>,
}

/// `GET /api/rows/export/{ticket}`
pub(in crate::rows) async fn download_export(
    state: web::Data<ConsoleState>,
    session: Session,
    ticket: web::Path<String>,
) -> Result<HttpResponse, ConsoleError> {
    let request = take_ticket(&ticket, &session, Instant::now())?;
    let permit = state.permit_statement(&session)?;
    let format = request.format;
    let (begun, beginning) = oneshot::channel();
    let (portions, receiver) = mpsc::channel(WAITING_PORTIONS);
    let mut output = Output {
        begun: Some(begun),
        portions,
    };
    // A task of its own, because the connection has to outlive this function, which returns with the first byte.
    actix_web::rt::spawn(async move {
        if let Err(error) = run_export(&state, &session, &request, &mut output).await {
            output.fail(error).await;
        }
        drop(permit);
    });
    let name = beginning
        .await
        .unwrap_or_else(|_| Err(ConsoleError::unavailable("The export could not begin")))?;
    let body = stream::unfold(receiver, |mut receiver| async move {
        Some((receiver.recv().await?, receiver))
    });
    Ok(HttpResponse::Ok()
        .content_type(format.media_type())
        .insert_header((
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ))
        .streaming(body))
}

/// Opens a connection that nobody else uses, and exports on it as the request's subject.
async fn run_export(
    state: &ConsoleState,
    session: &Session,
    request: &ExportRequest,
    output: &mut Output,
) -> Result<(), ConsoleError> {
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

/// Streams the rows, and cancels the statement when the client goes away first.
async fn export_rows(
    state: &ConsoleState,
    session: &Session,
    transaction: &Transaction<'_>,
    request: &ExportRequest,
    output: &mut Output,
) -> Result<(), ConsoleError> {
    transaction.batch_execute(EXPORT_TIMEOUT).await?;
    let table = find_table(transaction, &request.table).await?;
    let statement = copy_statement(&table, request)?;
    let target = format!("{}.{}", table.schema, table.name);
    // The entry comes before the rows, because those that were sent cannot be taken back.
    let entry = AuditEntry::new("rows.export", &target)
        .with_statement(&statement)
        .with_result("started");
    audit::record(state, session, entry).await?;
    // Dropping the transaction alone would leave the backend at work until it next writes to the socket.
    let canceller = transaction.cancel_token();
    let portions = output.portions.clone();
    let finished = tokio::select! {
        finished = copy_rows(transaction, &statement, &table.name, request.format, output) => finished?,
        () = portions.closed() => false,
    };
    if !finished {
        state.database.shared().cancel_statement(&canceller).await;
    }
    Ok(())
}

/// Runs the statement and sends its file; false when the client takes no more.
async fn copy_rows(
    transaction: &Transaction<'_>,
    statement: &str,
    table: &str,
    format: ExportFormat,
    output: &mut Output,
) -> Result<bool, ConsoleError> {
    let rows = transaction.copy_out(statement).await?;
    output.begin(file_name(table, format));
    // Rows are small and chunks of a body are not free, so rows are collected before they are sent.
    let mut portion = BytesMut::from(format.start());
    if format.is_csv() {
        let mut rows = std::pin::pin!(rows);
        while let Some(bytes) = rows.next().await {
            portion.extend_from_slice(&bytes?);
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
            if !output.send_full(&mut portion).await {
                return Ok(false);
            }
        }
    }
    portion.extend_from_slice(format.end().as_bytes());
    Ok(portion.is_empty() || output.send(portion.freeze()).await)
}

impl Output {
    /// Lets the answer begin.
    fn begin(&mut self, name: String) {
        if let Some(begun) = self.begun.take() {
            // Without a receiver the client has gone, which the first portion finds out.
            begun.send(Ok(name)).ok();
        }
    }

    /// Sends the portion once it is large enough; false when the client takes no more.
    async fn send_full(&self, portion: &mut BytesMut) -> bool {
        portion.len() < PORTION_BYTES || self.send(portion.split().freeze()).await
    }

    /// Sends a portion; false when the client has gone or takes nothing any more.
    async fn send(&self, portion: Bytes) -> bool {
        self.portions.send_timeout(Ok(portion), STALL_LIMIT).await.is_ok()
    }

    /// Reports an error: as the answer if that has not begun, else by breaking the body off.
    async fn fail(&mut self, error: ConsoleError) {
        match self.begun.take() {
            Some(begun) => {
                begun.send(Err(error)).ok();
            }
            None => {
                tracing::warn!(%error, "an export ended early");
                self.portions.send(Err(Interrupted)).await.ok();
            }
        }
    }
}
