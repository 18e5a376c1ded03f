//! `POST /api/sql/runs` and `DELETE /api/sql/runs/{id}`.

use std::convert::Infallible;

use actix_web::{HttpResponse, web};
use futures_util::stream;
use tokio::sync::mpsc;

use super::registry;
use super::request::{RunRequest, check_subject, split_text};
use super::session::Frame;
use super::stop::Stop;
use super::task::Run;
use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;

/// The number of lines that wait for a slow reader before PostgreSQL is made to wait, too.
const WAITING_LINES: usize = 4;

/// `POST /api/sql/runs`
pub(super) async fn start_run(
    state: web::Data<ConsoleState>,
    session: Session,
    request: web::Json<RunRequest>,
) -> Result<HttpResponse, ConsoleError> {
    let request = request.into_inner();
    check_subject(&request.subject, &session)?;
    let pieces = split_text(&request.text, &session)?;
    let permit = state.permit_statement(&session)?;
    let registration = registry::register(&session, &request.id)?;
    // The entry is written before the text runs, because a text can commit by itself, and its transaction may be
    // another role's.
    let role = request.subject.role_and_claims().map(|(role, _)| role);
    let target = role.unwrap_or_else(|| session.level.name().to_owned());
    let entry = AuditEntry::new("sql.run", &target)
        .with_statement(&request.text)
        .with_result("started");
    audit::record(&state, &session, entry).await?;

    let (lines, receiver) = mpsc::channel(WAITING_LINES);
    let limit = request.time_limit(state.config.statement_timeout);
    let frame = Frame::from_session(&session, request.transaction);
    let stop = Stop::new(registration.cancelled.clone(), limit);
    let run = Run::new(state.into_inner(), session.level, lines, stop);
    actix_web::rt::spawn(async move {
        run.run(&request.subject, frame, limit, &pieces).await;
        // Only after the end of the run may another run use its id and its slot among the account's running statements.
        drop((registration, permit));
    });
    let body = stream::unfold(receiver, |mut receiver| async move {
        let line: Vec<u8> = receiver.recv().await?;
        Some((Ok::<_, Infallible>(web::Bytes::from(line)), receiver))
    });
    Ok(HttpResponse::Ok()
        .content_type("application/x-ndjson")
        .streaming(body))
}

/// `DELETE /api/sql/runs/{id}`
pub(super) async fn cancel_run(
    session: Session,
    id: web::Path<String>,
) -> Result<HttpResponse, ConsoleError> {
    if registry::cancel(&session, &id) {
        Ok(HttpResponse::NoContent().finish())
    } else {
        Err(ConsoleError::not_found("The run has ended"))
    }
}
