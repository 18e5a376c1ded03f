//! `POST /api/rows/apply`: staged changes in one transaction, all or nothing (CONSOLE-033, 054 to 057).

mod fault;
mod outcome;
mod run;

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::json;

use self::outcome::Outcome;
use self::run::Run;
use super::request::Change;
use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;

/// Limits of the transaction: waiting for a locked row fails after 4 s, and a statement after a minute.
const SET_TIMEOUTS: &str = "set local lock_timeout = '4s'; set local statement_timeout = '60s'";

/// The body of a request: the staged changes, and whether they are only to be previewed.
#[derive(Deserialize)]
pub(super) struct ApplyRequest {
    changes: Vec<Change>,
    #[serde(default)]
    preview: bool,
}

/// `POST /api/rows/apply`
pub(super) async fn apply_changes(
    state: web::Data<ConsoleState>,
    session: Session,
    request: web::Json<ApplyRequest>,
) -> Result<HttpResponse, ConsoleError> {
    let mut client = state.database.connection(session.level).await?;
    let transaction = client.transaction().await?;
    transaction.batch_execute(SET_TIMEOUTS).await?;
    if request.preview {
        let statements = run::preview(&transaction, &request.changes).await?;
        let body = json!({ "applied": false, "statements": statements, "undo": [], "rows": [], "notes": [] });
        return Ok(HttpResponse::Ok().json(body));
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
        audit::write(&*transaction, &session, entry).await?;
    }
    transaction.commit().await?;
    Ok(HttpResponse::Ok().json(json!({
        "applied": true,
        "statements": outcome.statements,
        "undo": outcome.undo,
        "rows": outcome.rows,
        "notes": outcome.notes,
    })))
}
