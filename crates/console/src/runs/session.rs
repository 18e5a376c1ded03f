//! Opens the database session of a run: login, time limit, role and transaction.

use std::time::Duration;

use selvedge_postgres::{
    Database, Login, StatementCanceller, TextEvent, TextNotice, TextSession, TextSessionError,
    quote_identifier, quote_literal, statements_for_workers,
};

use super::request::TransactionMode;
use crate::session::Session;
use crate::state::Level;
use crate::subject::Subject;

/// How the statements of a run are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// The statements run in a read-only transaction that is rolled back.
    ReadOnly,
    /// The statements run in one transaction that is committed at the end.
    Transaction,
    /// The statements run without a transaction around them.
    Autocommit,
}

impl Frame {
    pub(super) fn from_session(session: &Session, mode: TransactionMode) -> Self {
        match (session.level, mode) {
            (Level::Viewer, _) => Self::ReadOnly,
            (Level::Admin, TransactionMode::One) => Self::Transaction,
            (Level::Admin, TransactionMode::Autocommit) => Self::Autocommit,
        }
    }
}

/// Opens the session of a run and begins its transaction.
pub(super) async fn open(
    database: &Database,
    level: Level,
    subject: &Subject,
    frame: Frame,
    limit: Duration,
) -> Result<(TextSession, StatementCanceller), TextSessionError> {
    let caller = subject.role_and_claims();
    let (mut session, canceller) = match (level, &caller) {
        (Level::Viewer, _) => database.viewer_session().await?,
        // A caller of the API logs in as the authenticator, so that `session_user` is what functions and policies see
        // in requests.
        (Level::Admin, Some(_)) => database.text_session(Login::Authenticator).await?,
        (Level::Admin, None) => database.text_session(Login::ConsoleAdmin).await?,
    };
    // PostgreSQL enforces the time limit, too, because the clock of this process stops when the process is killed.
    session
        .run(&format!("set statement_timeout = {}", limit.as_millis()))
        .await?;
    session
        .run("set idle_in_transaction_session_timeout = '60s'")
        .await?;
    begin(&mut session, frame).await?;
    if let Some((role, claims)) = caller {
        // In autocommit mode the settings apply to the session, which no other run uses.
        let local = frame != Frame::Autocommit;
        let claims = claims.to_string();
        let literal = quote_literal(&claims);
        session
            .run(&format!(
                "select pg_catalog.set_config('request.jwt.claims', {literal}, {local})"
            ))
            .await?;
        if local {
            let settings = [("request.jwt.claims", claims.as_str())];
            for statement in statements_for_workers(&database.role_settings(), &settings) {
                session.run(&statement).await?;
            }
        }
        let word = if local { "local " } else { "" };
        session
            .run(&format!("set {word}role {}", quote_identifier(&role)))
            .await?;
    }
    Ok((session, canceller))
}

async fn begin(session: &mut TextSession, frame: Frame) -> Result<(), TextSessionError> {
    match frame {
        Frame::Autocommit => Ok(()),
        Frame::Transaction => session.run("begin").await,
        Frame::ReadOnly => {
            session
                .run("begin transaction isolation level repeatable read, read only")
                .await?;
            // After the first snapshot PostgreSQL refuses to make the transaction writable again, whatever the text tries.
            session.run("select pg_catalog.pg_current_snapshot()").await
        }
    }
}

/// The values of a result's first row as text, or `None` for a result without rows.
type FirstRow = Option<Vec<Option<String>>>;

/// Runs a statement and returns the first row of its result; the inner error is PostgreSQL's refusal.
pub(super) async fn read_first_row(
    session: &mut TextSession,
    statement: &str,
    cell_bytes: usize,
) -> Result<Result<FirstRow, TextNotice>, TextSessionError> {
    session.send(statement, 0).await?;
    let mut outcome = Ok(None);
    loop {
        match session.next_event(cell_bytes, cell_bytes).await? {
            TextEvent::Row(cells) => {
                let texts = || cells.into_iter().map(|cell| cell.map(|cell| cell.text)).collect();
                outcome = outcome.map(|first: FirstRow| first.or_else(|| Some(texts())));
            }
            TextEvent::Error(error) => outcome = Err(error),
            TextEvent::Ready(_) => return Ok(outcome),
            _ => {}
        }
    }
}
