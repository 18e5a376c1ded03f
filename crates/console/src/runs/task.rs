//! Runs the statements of a text, and writes the lines of the answer.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use selvedge_postgres::{StatementCanceller, TextColumn, TextEvent, TextSession, TransactionStatus};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::events;
use super::request::Piece;
use super::rows::{CELL_BYTES, PORTION, ROW_BYTES, RowBuffer, RowLimit};
use super::session::{Frame, open};
use super::stop::{Stop, StopReason};
use crate::state::{ConsoleState, Level};
use crate::subject::Subject;

/// The number of notices of one statement that are passed on, because a loop can raise millions.
const MAX_NOTICES: usize = 1000;
/// How often an empty line is sent while nothing happens, because only a write detects a disconnected client.
const HEARTBEAT: Duration = Duration::from_millis(300);

/// The run is over, because the client has disconnected or the database connection is lost.
struct Ended;

/// A run of SQL statements, whose events go to the client as lines.
pub(super) struct Run {
    state: Arc<ConsoleState>,
    level: Level,
    lines: mpsc::Sender<Vec<u8>>,
    stop: Stop,
    limit: RowLimit,
}

/// How a statement ended.
enum Outcome {
    Done(TransactionStatus),
    Failed,
}

/// The results of the statement that is running.
#[derive(Default)]
struct Progress {
    rows: RowBuffer,
    notices: usize,
    /// PostgreSQL's command tag, such as `INSERT 0 1`.
    tag: String,
    has_failed: bool,
    /// Whether nothing more is wanted of the statement.
    is_over: bool,
}

impl Run {
    pub(super) fn new(
        state: Arc<ConsoleState>,
        level: Level,
        lines: mpsc::Sender<Vec<u8>>,
        stop: Stop,
    ) -> Self {
        Self {
            state,
            level,
            lines,
            stop,
            limit: RowLimit::default(),
        }
    }

    /// Runs the statements and ends the transaction. The session is closed afterwards in any case.
    pub(super) async fn run(mut self, subject: &Subject, frame: Frame, limit: Duration, pieces: &[Piece]) {
        let start = Instant::now();
        let state = Arc::clone(&self.state);
        let opened = open(state.database.shared(), self.level, subject, frame, limit).await;
        let committed = match opened {
            Ok((mut session, canceller)) => {
                let outcome = self.run_all(&mut session, &canceller, frame, pieces).await;
                let Ok(committed) = outcome else {
                    return;
                };
                committed
            }
            Err(error) => {
                let message = error.to_string();
                if self
                    .send(&events::own_error(None, "unavailable", &message))
                    .await
                    .is_err()
                {
                    return;
                }
                false
            }
        };
        let elapsed_ms = start.elapsed().as_secs_f64() * 1000.0;
        let end = json!({ "event": "end", "committed": committed, "elapsed_ms": elapsed_ms });
        // An error means that the client has disconnected, so the last line is not needed.
        self.send(&end).await.ok();
    }

    async fn run_all(
        &mut self,
        session: &mut TextSession,
        canceller: &StatementCanceller,
        frame: Frame,
        pieces: &[Piece],
    ) -> Result<bool, Ended> {
        let mut status = TransactionStatus::Idle;
        let mut failed = false;
        for (index, piece) in pieces.iter().enumerate() {
            if self.stop.reason().is_some() {
                failed = true;
                break;
            }
            match self.run_statement(session, canceller, index, piece).await? {
                Outcome::Done(now) => status = now,
                Outcome::Failed => {
                    failed = true;
                    break;
                }
            }
        }
        if frame == Frame::ReadOnly {
            session.run("rollback").await.ok();
            return Ok(false);
        }
        if failed {
            session.run("rollback").await.ok();
            // In autocommit mode, statements that were committed before stay.
            return Ok(frame == Frame::Autocommit);
        }
        if status == TransactionStatus::Idle && frame == Frame::Autocommit {
            return Ok(true);
        }
        match session.run("commit").await {
            Ok(()) => Ok(status != TransactionStatus::Failed),
            Err(error) => {
                // A deferred constraint speaks up only now.
                self.send(&events::own_error(None, "commit", &error.to_string()))
                    .await?;
                Ok(false)
            }
        }
    }

    async fn run_statement(
        &mut self,
        session: &mut TextSession,
        canceller: &StatementCanceller,
        index: usize,
        piece: &Piece,
    ) -> Result<Outcome, Ended> {
        let start = Instant::now();
        self.send(&json!({ "event": "statement", "index": index, "start": piece.start, "end": piece.end }))
            .await?;
        session.send(&piece.text, PORTION).await.map_err(|_| Ended)?;
        let mut progress = Progress::default();
        let mut is_finishing = false;
        loop {
            let event = match self.next_event(session, canceller).await? {
                Ok(TextEvent::Ready(_)) if progress.has_failed => return Ok(Outcome::Failed),
                Ok(TextEvent::Ready(status)) => {
                    self.send_rows(&mut progress.rows, index).await?;
                    self.send_done(index, &progress, start).await?;
                    return Ok(Outcome::Done(status));
                }
                Ok(event) => event,
                Err(message) => {
                    self.send(&events::own_error(Some(index), "unavailable", &message))
                        .await?;
                    return Ok(Outcome::Failed);
                }
            };
            self.pass_on(session, index, piece, event, &mut progress).await?;
            if progress.rows.is_full() {
                self.send_rows(&mut progress.rows, index).await?;
            }
            // The statement was sent without its end, so that its rows could be asked for in portions.
            if progress.is_over && !is_finishing {
                is_finishing = true;
                session.finish_statement().await.map_err(|_| Ended)?;
            }
        }
    }

    async fn pass_on(
        &mut self,
        session: &mut TextSession,
        index: usize,
        piece: &Piece,
        event: TextEvent,
        progress: &mut Progress,
    ) -> Result<(), Ended> {
        match event {
            TextEvent::Columns(columns) => {
                let columns = self.describe_columns(&columns).await;
                self.send(&json!({ "event": "columns", "index": index, "columns": columns }))
                    .await?;
            }
            TextEvent::Row(cells) => progress.rows.push(cells, &mut self.limit),
            TextEvent::Notice(notice) => {
                progress.notices += 1;
                if progress.notices <= MAX_NOTICES {
                    self.send(&events::notice(index, &notice)).await?;
                }
            }
            TextEvent::Suspended if !self.limit.is_reached() => {
                session.send_more(PORTION).await.map_err(|_| Ended)?;
            }
            TextEvent::Suspended => {
                progress.rows.truncated = true;
                progress.is_over = true;
            }
            TextEvent::Complete(tag) => {
                progress.tag = tag;
                progress.is_over = true;
            }
            TextEvent::Error(error) => {
                // The rows before the error have come, so they are shown.
                self.send_rows(&mut progress.rows, index).await?;
                let error = self.explain_stop(events::error(Some(index), piece.start, &error));
                self.send(&error).await?;
                progress.has_failed = true;
                progress.is_over = true;
            }
            TextEvent::Empty => progress.is_over = true,
            TextEvent::CopyRequested | TextEvent::Ready(_) => {}
        }
        Ok(())
    }

    async fn send_rows(&self, rows: &mut RowBuffer, index: usize) -> Result<(), Ended> {
        match rows.drain_event(index) {
            Some(event) => self.send(&event).await,
            None => Ok(()),
        }
    }

    async fn send_done(&self, index: usize, progress: &Progress, start: Instant) -> Result<(), Ended> {
        self.send(&json!({
            "event": "done",
            "index": index,
            "tag": progress.tag,
            "rows": progress.rows.total,
            "elapsed_ms": start.elapsed().as_secs_f64() * 1000.0,
            "truncated": progress.rows.truncated,
            "notices_left_out": progress.notices.saturating_sub(MAX_NOTICES),
        }))
        .await
    }

    /// Replaces PostgreSQL's message that the user has cancelled the statement, if the time limit was the reason.
    fn explain_stop(&self, mut error: Value) -> Value {
        if self.stop.reason() == Some(StopReason::TimedOut) {
            error["message"] = json!("The time limit of the run is over");
        }
        error
    }

    /// The next event of the session. When the run is stopped, the statement is cancelled, and its error comes as an event.
    async fn next_event(
        &mut self,
        session: &mut TextSession,
        canceller: &StatementCanceller,
    ) -> Result<Result<TextEvent, String>, Ended> {
        let mut event = pin!(session.next_event(CELL_BYTES, ROW_BYTES));
        // Usually further rows have arrived already. After each portion the next one is requested, and only then is waited
        // for.
        if let Poll::Ready(event) = futures_util::poll!(&mut event) {
            return Ok(event.map_err(|error| error.to_string()));
        }
        let mut heartbeat = tokio::time::interval(HEARTBEAT);
        heartbeat.tick().await;
        loop {
            tokio::select! {
                event = &mut event => return Ok(event.map_err(|error| error.to_string())),
                reason = self.stop.wait(&self.lines) => {
                    canceller.cancel().await;
                    if reason == StopReason::ClientGone {
                        // The session is dropped with the run, and what is open in it is rolled back.
                        return Err(Ended);
                    }
                }
                _ = heartbeat.tick() => {
                    // If the queue is full, the next heartbeat tries again.
                    self.lines.try_send(events::line(&json!({ "event": "waiting" }))).ok();
                }
            }
        }
    }

    /// Columns with the names of their types and the table columns from which they come.
    async fn describe_columns(&self, columns: &[TextColumn]) -> Vec<Value> {
        let types: Vec<u32> = columns.iter().map(|column| column.type_oid).collect();
        let modifiers: Vec<i32> = columns.iter().map(|column| column.type_modifier).collect();
        let tables: Vec<u32> = columns.iter().map(|column| column.table_oid).collect();
        let attributes: Vec<i16> = columns.iter().map(|column| column.attribute).collect();
        let sql = "select format_type(c.type, c.modifier), a.attname::text
            from unnest($1::oid[], $2::int4[], $3::oid[], $4::int2[]) with ordinality as c(type, modifier, relation, attribute, position)
            left join pg_catalog.pg_attribute a on a.attrelid = c.relation and a.attnum = c.attribute
            order by c.position";
        let found = async {
            let client = self.state.database.connection(self.level).await.ok()?;
            client
                .query(sql, &[&types, &modifiers, &tables, &attributes])
                .await
                .ok()
        };
        // A result without the names of its types is better than none.
        let found = found.await.unwrap_or_default();
        let describe = |(index, column): (usize, &TextColumn)| {
            let row = found.get(index);
            let origin = row.and_then(|row| row.get::<_, Option<String>>(1));
            json!({
                "name": column.name,
                "type": row.map(|row| row.get::<_, String>(0)),
                "table": origin.as_ref().map(|_| column.table_oid.to_string()),
                "column": origin,
            })
        };
        columns.iter().enumerate().map(describe).collect()
    }

    async fn send(&self, event: &Value) -> Result<(), Ended> {
        self.lines.send(events::line(event)).await.map_err(|_| Ended)
    }
}
