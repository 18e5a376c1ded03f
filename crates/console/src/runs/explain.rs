//! `POST /api/sql/explain`: the plan of a statement, measured or not (CONSOLE-095).

use actix_web::{HttpResponse, web};
use selvedge_postgres::TextSession;
use serde::Deserialize;
use serde_json::{Value, json};

use super::request::check_subject;
use super::session::{Frame, open, read_first_row};
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
    // With `analyze` the statement runs, and its functions may reach out of the transaction that is rolled back. Without it the planner
    // runs what is called immutable.
    let entry = AuditEntry::new("sql.explain", session.level.name()).with_statement(&statement);
    audit::record(&state, &session, entry.with_result("started")).await?;
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
    let outcome = read_first_row(session, statement, PLAN_BYTES)
        .await
        .map_err(|error| ConsoleError::unavailable(error.to_string()))?;
    let row = outcome.map_err(|error| {
        let refused = ConsoleError::invalid(error.message).with("code", json!(error.code));
        match error.position {
            Some(position) => refused.with("position", json!(position.saturating_sub(prefix))),
            None => refused,
        }
    })?;
    let plan = row.into_iter().flatten().next().flatten();
    let text = plan.ok_or_else(|| ConsoleError::invalid("There is no statement to explain"))?;
    Ok(serde_json::from_str(&text)?)
}
