//! What the server returns for one batch, message by message.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use selvedge_memory::{DatabaseTurn, MemoryBudget};
use smallvec::SmallVec;

use super::server_message::{ErrorFields, parse_columns};
use super::small_rows::SmallRows;
use super::statements::{Preparing, Statements};
use super::{Column, Row};
use crate::TransactionStage;
use crate::json::{JsonRows, JsonShape};

/// Where a statement's rows go.
#[derive(Debug)]
pub(crate) enum Sink {
    Discard,
    Rows(Vec<Row>),
    Json(Box<JsonRows>),
}

/// A statement that was sent and whose results are still coming.
#[derive(Debug)]
pub(super) struct Expected {
    pub(super) stage: TransactionStage,
    pub(super) sink: Sink,
    pub(super) columns: Option<Arc<[Column]>>,
    /// How rows become JSON; known for prepared statements only.
    pub(super) shape: Option<JsonShape>,
    pub(super) preparing: Option<Preparing>,
    /// False for a statement that is only prepared.
    pub(super) is_executed: bool,
    /// Whether `BindComplete` was received; from then on the statement may have had effects.
    pub(super) is_bound: bool,
}

impl Expected {
    /// A statement that is executed.
    pub(super) fn new(stage: TransactionStage, sink: Sink, preparing: Option<Preparing>) -> Self {
        Self {
            stage,
            sink,
            columns: None,
            shape: None,
            preparing,
            is_executed: true,
            is_bound: false,
        }
    }
}

/// PostgreSQL's C function that reports `cached plan must not change result type`.
const PLAN_CHECK_FUNCTION: &str = "RevalidateCachedQuery";

/// The first error of a batch.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) stage: TransactionStage,
    pub(crate) fields: ErrorFields,
    /// Whether the statement may have begun to run.
    pub(crate) has_begun: bool,
    /// Whether nothing is wrong but that only PostgreSQL can write the rows as JSON.
    pub(crate) needs_fallback: bool,
}

impl Refusal {
    fn stale_statement(stage: TransactionStage) -> Self {
        let fields = ErrorFields {
            code: "0A000".to_owned(),
            message: "the types of a result have changed".to_owned(),
            routine: PLAN_CHECK_FUNCTION.to_owned(),
            ..ErrorFields::default()
        };
        Self {
            stage,
            fields,
            has_begun: false,
            needs_fallback: false,
        }
    }

    fn unknown_types(stage: TransactionStage) -> Self {
        Self {
            stage,
            fields: ErrorFields::default(),
            has_begun: true,
            needs_fallback: true,
        }
    }

    /// Whether a prepared statement was out of date: its table has changed, or it was deallocated. Nothing has run
    /// then, so the transaction can be tried again.
    pub(crate) fn is_stale(&self) -> bool {
        let changed = self.fields.code == "0A000" && self.fields.routine == PLAN_CHECK_FUNCTION;
        // 26000: the statement was deallocated by SQL. 42P05: SQL prepared a statement with its name.
        !self.has_begun && (changed || ["26000", "42P05"].contains(&self.fields.code.as_str()))
    }
}

/// A batch whose `ReadyForQuery` was received.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    /// Results of the statements, in the order in which they were sent.
    pub(crate) sinks: SmallVec<[(TransactionStage, Sink); 4]>,
    pub(crate) refusal: Option<Refusal>,
    /// Whether a batch before it has left the session with other settings than it had at login, so that the results may
    /// be wrong.
    pub(crate) in_changed_session: bool,
    /// Whether rows were dropped, because they did not fit into the memory that was left.
    pub(crate) is_out_of_memory: bool,
    /// Time from when the server could begin to work on the batch until its end.
    pub(super) duration: Duration,
}

/// Errors with which the server ends a session: `transaction_timeout` (from PostgreSQL 17 on), `idle_in_transaction_session_timeout`, and
/// an administrator, who has ended it or shuts the server down.
const SESSION_ENDS: [&str; 3] = ["25P04", "25P03", "57P01"];

/// Collects the server's messages for one batch.
#[derive(Debug)]
pub(super) struct Collector {
    expected: SmallVec<[Expected; 4]>,
    /// Index of the statement that the next message belongs to.
    current: usize,
    refusal: Option<Refusal>,
    is_out_of_memory: bool,
    small_rows: SmallRows,
    queued: Instant,
    /// What the server may take for the batch, until it has answered.
    _turn: Option<DatabaseTurn>,
}

/// The server sent a message that does not belong to the current statement. The connection must be closed, because
/// later results could be assigned to the wrong request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnexpectedMessage;

impl Collector {
    /// For the statements of a batch that is sent now. `writes` says whether its result is kept if that is possible at all; `turn` is what the
    /// server may take for it.
    pub(super) fn new(expected: SmallVec<[Expected; 4]>, writes: bool, turn: Option<DatabaseTurn>) -> Self {
        Self {
            expected,
            current: 0,
            refusal: None,
            is_out_of_memory: false,
            small_rows: SmallRows::new(writes),
            queued: Instant::now(),
            _turn: turn,
        }
    }

    pub(super) fn queued(&self) -> Instant {
        self.queued
    }

    /// Processes one message of the batch. `ReadyForQuery` does not come here.
    pub(super) fn handle_message(
        &mut self,
        tag: u8,
        body: Body<'_>,
        statements: &mut Statements,
        memory: &MemoryBudget,
    ) -> Result<(), UnexpectedMessage> {
        match tag {
            b'D' => return self.handle_row(body, memory),
            // BindComplete.
            b'2' => self.current()?.is_bound = true,
            // RowDescription, or NoData for a statement without rows.
            b'T' | b'n' => self.handle_columns(tag, body, statements)?,
            // CommandComplete, or EmptyQueryResponse.
            b'C' | b'I' => {
                self.current()?;
                self.current += 1;
            }
            b'E' => {
                let current = self.expected.get(self.current);
                self.refusal.get_or_insert(Refusal {
                    stage: current.map_or(TransactionStage::TransactionEnd, |current| current.stage),
                    has_begun: current.is_none_or(|current| current.is_bound),
                    needs_fallback: false,
                    fields: ErrorFields::parse(body.bytes()),
                });
            }
            // ParseComplete, CloseComplete, ParameterDescription
            b'1' | b'3' | b't' => {}
            _ => return Err(UnexpectedMessage),
        }
        Ok(())
    }

    /// The columns of the current statement's rows; none for `NoData`.
    fn handle_columns(
        &mut self,
        tag: u8,
        body: Body<'_>,
        statements: &mut Statements,
    ) -> Result<(), UnexpectedMessage> {
        let found: Arc<[Column]> = match tag {
            b'T' => parse_columns(body.bytes()).ok_or(UnexpectedMessage)?.into(),
            _ => Arc::new([]),
        };
        let current = self.expected.get_mut(self.current).ok_or(UnexpectedMessage)?;
        let has_changed = current.columns.as_ref().is_some_and(|known| *known != found);
        if current.shape.is_some() && has_changed {
            // The columns are not those that were known, so its rows cannot be written as JSON.
            current.sink = Sink::Discard;
            let refusal = Refusal::stale_statement(current.stage);
            self.refusal.get_or_insert(refusal);
            return Ok(());
        }
        if matches!(current.sink, Sink::Json(_)) && current.shape.is_none() {
            current.shape = JsonShape::from_columns(&found);
            if current.shape.is_none() {
                current.sink = Sink::Discard;
                let refusal = Refusal::unknown_types(current.stage);
                self.refusal.get_or_insert(refusal);
            }
        }
        current.columns = Some(Arc::clone(&found));
        if let Some(preparing) = current.preparing.take() {
            statements.prepared(preparing, found);
        }
        if !current.is_executed {
            self.current += 1;
        }
        Ok(())
    }

    /// Called when the request was given up (its client hung up): the rows need not be kept.
    pub(super) fn discard_rows(&mut self) {
        for expected in &mut self.expected {
            expected.sink = Sink::Discard;
        }
    }

    /// Whether the server has ended the session because of this batch or while it ran, so that the batches behind it never began.
    pub(super) fn has_ended_session(&self) -> bool {
        let fields = self.refusal.as_ref().map(|refusal| &refusal.fields);
        fields.is_some_and(|fields| fields.ends_session && SESSION_ENDS.contains(&fields.code.as_str()))
    }

    pub(super) fn finish(self, statements: &mut Statements, duration: Duration) -> Finished {
        let mut sinks = SmallVec::new();
        for expected in self.expected {
            if let Some(preparing) = expected.preparing {
                statements.not_prepared(preparing);
            }
            if expected.is_executed {
                sinks.push((expected.stage, expected.sink));
            }
        }
        Finished {
            sinks,
            refusal: self.refusal,
            in_changed_session: false,
            is_out_of_memory: self.is_out_of_memory,
            duration,
        }
    }

    fn current(&mut self) -> Result<&mut Expected, UnexpectedMessage> {
        self.expected.get_mut(self.current).ok_or(UnexpectedMessage)
    }

    /// Called when there is no memory left for a row: the result is not kept, and the request fails.
    pub(super) fn refuse_rows(&mut self) {
        self.is_out_of_memory = true;
        self.discard_rows();
    }

    /// Whether the rows that come are dropped.
    pub(super) fn is_discarding(&self) -> bool {
        let current = self.expected.get(self.current);
        current.is_some_and(|current| matches!(current.sink, Sink::Discard))
    }

    fn handle_row(&mut self, body: Body<'_>, memory: &MemoryBudget) -> Result<(), UnexpectedMessage> {
        let current = self.expected.get_mut(self.current).ok_or(UnexpectedMessage)?;
        match (&mut current.sink, &current.columns, &current.shape) {
            (Sink::Discard, ..) => Ok(()),
            (Sink::Rows(rows), Some(columns), _) => {
                match self.small_rows.count(body.into_bytes(), memory) {
                    Some(row) => rows.push(Row::parse(Arc::clone(columns), row).ok_or(UnexpectedMessage)?),
                    None => self.refuse_rows(),
                }
                Ok(())
            }
            (Sink::Json(rows), _, Some(shape)) => {
                rows.push(shape, body.bytes(), memory).ok_or(UnexpectedMessage)?;
                if rows.is_out_of_memory() {
                    self.refuse_rows();
                }
                Ok(())
            }
            _ => Err(UnexpectedMessage),
        }
    }
}

/// A message's body. A short one is borrowed from the read buffer, a long one is split off to avoid a copy.
pub(super) enum Body<'b> {
    Borrowed(&'b [u8]),
    Owned(Bytes),
}

impl Body<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::Borrowed(bytes) => Bytes::copy_from_slice(bytes),
            Self::Owned(bytes) => bytes,
        }
    }
}
