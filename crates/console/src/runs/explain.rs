//! `POST /api/sql/explain`: the plan of a statement, measured or not (CONSOLE-095).

use actix_web::{HttpResponse, web};
use selvedge_postgres::{TextEvent, TextSession};
use serde::Deserialize;
use serde_json::{Value, json};

use super::request::check_subject;
use super::session::{Frame, open};
use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::{ConsoleState, Level};
use crate::subject::Subject;

/// The bytes after which a plan is refused, because the browser half could not draw it.
const PLAN_BYTES: usize = 16 * 1024 * 1024;

/// The body of a request for a plan.
#[derive(Deserialize)]
pub(super) struct ExplainRequest {
    text: String,
    #[serde(default)]
    analyze: bool,
    #[serde(default)]
    subject: Subject,
}

/// `POST /api/sql/explain`
pub(super) async fn explain(
    state: web::Data<ConsoleState>,
    session: Session,
    request: web::Json<ExplainRequest>,
) -> Result<HttpResponse, ConsoleError> {
    check_subject(&request.subject, &session)?;
    let _permit = state.permit_statement(&session)?;
    let options = if request.analyze {
        "explain (analyze, buffers, format json) "
    } else {
        "explain (verbose, format json) "
    };
    let statement = format!("{options}{}", request.text);
    if request.analyze {
        // With `analyze` the statement runs, and its functions may reach out of the transaction that is rolled back, so
        // it is audited.
        let entry = AuditEntry::new("sql.explain", session.level.name()).with_statement(&statement);
        audit::record(&state, &session, entry.with_result("started")).await?;
    }
    // Without `analyze` nothing is executed, so nothing has to be written either.
    let frame = if request.analyze && session.level == Level::Admin {
        Frame::Transaction
    } else {
        Frame::ReadOnly
    };
    let limit = state.config.statement_timeout;
    let database = state.database.shared();
    let (mut text_session, _canceller) = open(database, session.level, &request.subject, frame, limit)
        .await
        .map_err(|error| ConsoleError::unavailable(error.to_string()))?;
    let plan = read_plan(&mut text_session, &statement, options.chars().count()).await;
    // The rollback may fail, because the connection is dropped next and takes the transaction with it.
    text_session.run("rollback").await.ok();
    Ok(HttpResponse::Ok().json(json!({ "plan": plan? })))
}

async fn read_plan(session: &mut TextSession, statement: &str, prefix: usize) -> Result<Value, ConsoleError> {
    let lost = |error: selvedge_postgres::TextSessionError| ConsoleError::unavailable(error.to_string());
    session.send(statement, 0).await.map_err(lost)?;
    let mut outcome = Err(ConsoleError::invalid("There is no statement to explain"));
    loop {
        match session.next_event(PLAN_BYTES, PLAN_BYTES).await.map_err(lost)? {
            TextEvent::Row(cells) => {
                let text = cells
                    .first()
                    .and_then(Option::as_ref)
                    .map(|cell| cell.text.as_str());
                outcome = serde_json::from_str(text.unwrap_or_default()).map_err(ConsoleError::from);
            }
            TextEvent::Error(error) => {
                let mut refused = ConsoleError::invalid(error.message).with("code", json!(error.code));
                if let Some(position) = error.position {
                    refused = refused.with("position", json!(position.saturating_sub(prefix)));
                }
                outcome = Err(refused);
            }
            TextEvent::Ready(_) => return outcome,
            _ => {}
        }
    }
}
