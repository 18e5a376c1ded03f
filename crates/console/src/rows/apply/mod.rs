//! `POST /api/rows/apply`: staged changes in one transaction, all or nothing (CONSOLE-033, 054 to 057).

mod fault;
mod outcome;
mod request_record;
mod run;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use self::outcome::Outcome;
use self::request_record::{Known, RequestRecord};
use self::run::Run;
use super::request::Change;
use crate::audit::{AuditEntry, AuditPermit};
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;

/// Limits of the transaction: waiting for a locked row fails after 4 s, and a statement after a minute.
const SET_TIMEOUTS: &str = "set local lock_timeout = '4s'; set local statement_timeout = '60s'";

/// The body of a request: the staged changes, and whether they are only to be previewed.
#[derive(Deserialize)]
pub(super) struct ApplyRequest {
    changes: Vec<Change>,
    /// An id that the browser half chooses. A second request with it gets the first one's answer and applies nothing.
    #[serde(default)]
    request_id: Option<Uuid>,
    #[serde(default)]
    preview: bool,
}

/// The body of a question for the outcome of a request whose answer was lost.
#[derive(Deserialize)]
pub(super) struct SettleRequest {
    request_id: Uuid,
}

/// `POST /api/rows/apply`
pub(super) async fn apply_changes(
    state: web::Data<ConsoleState>,
    session: Session,
    request: web::Json<ApplyRequest>,
) -> Result<HttpResponse, ConsoleError> {
    if request.preview {
        return preview_changes(&state, &session, &request.changes).await;
    }
    let permit = AuditPermit::request(&state).await?;
    let mut client = state.database.connection(session.level).await?;
    let transaction = client.transaction().await?;
    transaction.batch_execute(SET_TIMEOUTS).await?;
    let record = request.request_id.map(|id| RequestRecord::new(&session, id));
    if let Some(record) = &record {
        match record.claim(&transaction, &request.changes).await? {
            Known::New => {}
            Known::Applied(answer) => return Ok(HttpResponse::Ok().json(answer)),
            Known::GivenUp => return Err(given_up()),
        }
    }
    let mut run = Run::begin(&transaction).await?;
    for (index, change) in request.changes.iter().enumerate() {
        if let Err(failure) = run.apply(index, change).await {
            // PostgreSQL accepts no further query in a failed transaction, and the search for the faulty cell needs some.
            let tables = run.into_tables();
            drop(transaction);
            return Err(fault::explain(&client, failure, index, change, &tables).await);
        }
    }
    let outcome: Outcome = run.finish().await?;
    let answer = finish(transaction, &session, &permit, outcome, record.as_ref()).await?;
    Ok(HttpResponse::Ok().json(answer))
}

async fn preview_changes(
    state: &ConsoleState,
    session: &Session,
    changes: &[Change],
) -> Result<HttpResponse, ConsoleError> {
    let mut client = state.database.connection(session.level).await?;
    let transaction = client.transaction().await?;
    transaction.batch_execute(SET_TIMEOUTS).await?;
    let statements = run::preview(&transaction, changes).await?;
    let body = json!({ "applied": false, "statements": statements, "undo": [], "rows": [], "notes": [] });
    Ok(HttpResponse::Ok().json(body))
}

/// Commits what the run has done, with its entries of the audit and the answer that is remembered.
async fn finish(
    transaction: Transaction<'_>,
    session: &Session,
    permit: &AuditPermit,
    outcome: Outcome,
    record: Option<&RequestRecord<'_>>,
) -> Result<Value, ConsoleError> {
    if !outcome.conflicts.is_empty() {
        return Err(
            ConsoleError::conflict("Somebody else has changed these rows since they were read")
                .with("conflicts", json!(outcome.conflicts)),
        );
    }
    // In the same transaction, so that no change is committed without its audit entry.
    for (action, target, statement, rows) in &outcome.audited {
        let entry = AuditEntry::new(action, target)
            .with_statement(statement)
            .with_rows(*rows);
        permit.write(&*transaction, session, entry).await?;
    }
    let answer = json!({
        "applied": true,
        "statements": outcome.statements,
        "undo": outcome.undo,
        "rows": outcome.rows,
        "notes": outcome.notes,
    });
    if let Some(record) = record {
        record.keep_answer(&transaction, &answer).await?;
    }
    commit(transaction).await?;
    Ok(answer)
}

/// Commits, and tells a refusal by PostgreSQL, such as that of a deferred constraint, from a connection that broke meanwhile.
async fn commit(transaction: Transaction<'_>) -> Result<(), ConsoleError> {
    transaction
        .commit()
        .await
        .map_err(|error| match error.as_db_error() {
            Some(_) => error.into(),
            None => ConsoleError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "outcome_unknown",
                "The connection to the database broke while the changes were committed",
            )
            .with_hint("Apply them again: what has been applied is not applied twice."),
        })
}

/// `POST /api/rows/apply/settle`: what became of a request whose answer was lost. One that has not arrived by now is given up, so
/// that the answer stays true.
pub(super) async fn settle_request(
    state: web::Data<ConsoleState>,
    session: Session,
    request: web::Json<SettleRequest>,
) -> Result<HttpResponse, ConsoleError> {
    let mut client = state.database.connection(session.level).await?;
    let transaction = client.transaction().await?;
    transaction.batch_execute(SET_TIMEOUTS).await?;
    let record = RequestRecord::new(&session, request.request_id);
    let answer = match record.give_up(&transaction).await? {
        Known::Applied(answer) => answer,
        Known::New | Known::GivenUp => json!({ "applied": false }),
    };
    transaction.commit().await?;
    Ok(HttpResponse::Ok().json(answer))
}

fn given_up() -> ConsoleError {
    ConsoleError::new(
        StatusCode::CONFLICT,
        "given_up",
        "The changes came too late: they have been given up since",
    )
}
