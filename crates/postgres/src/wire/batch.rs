//! One batch: writes the messages of its statements, and collects what the server returns for each.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend::{self, BindError};
use selvedge_memory::MemoryBudget;
use smallvec::SmallVec;

use super::server_message::{ErrorFields, parse_columns};
use super::small_rows::SmallRows;
use super::statements::{Preparing, Statements, Usage};
use super::{Column, Row};
use crate::json::{JsonRows, JsonShape};
use crate::{Param, SqlStatement, TransactionStage};

/// Where a statement's rows go.
#[derive(Debug)]
pub(crate) enum Sink {
    Discard,
    Rows(Vec<Row>),
    Json(Box<JsonRows>),
}

/// A statement that was sent and whose results are still coming.
#[derive(Debug)]
struct Expected {
    stage: TransactionStage,
    sink: Sink,
    columns: Option<Arc<[Column]>>,
    /// How rows become JSON; known for prepared statements only.
    shape: Option<JsonShape>,
    preparing: Option<Preparing>,
    /// False for a statement that is only prepared.
    is_executed: bool,
    /// Whether `BindComplete` was received; from then on the statement may have had effects.
    is_bound: bool,
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
}

/// The server sent a message that does not belong to the current statement. The connection must be closed, because
/// later results could be assigned to the wrong request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnexpectedMessage;

/// Writes the messages of a batch into the connection's buffer.
pub(crate) struct Batch<'c> {
    out: &'c mut BytesMut,
    statements: &'c mut Statements,
    start: usize,
    /// Names of the statements that the batch closes first.
    closing: Vec<String>,
    expected: SmallVec<[Expected; 4]>,
    /// Whether prepared statements are used.
    prepares: bool,
}

/// Format codes of parameters and results.
const TEXT: i16 = 0;
const BINARY: i16 = 1;

/// A parameter as the message `Bind` holds it.
pub(crate) trait BoundParam {
    /// Format code of the value.
    fn format(&self) -> i16;
    /// The value's bytes; `None` for null.
    fn value(&self) -> Option<&[u8]>;
}

impl BoundParam for Param {
    fn format(&self) -> i16 {
        match self {
            Self::Binary(_) => BINARY,
            Self::Null | Self::Text(_) => TEXT,
        }
    }

    fn value(&self) -> Option<&[u8]> {
        match self {
            Self::Null => None,
            Self::Text(value) | Self::Binary(value) => Some(value),
        }
    }
}

impl BoundParam for &str {
    fn format(&self) -> i16 {
        TEXT
    }

    fn value(&self) -> Option<&[u8]> {
        Some(self.as_bytes())
    }
}

impl<'c> Batch<'c> {
    pub(super) fn begin(out: &'c mut BytesMut, statements: &'c mut Statements) -> Result<Self, BatchError> {
        let start = out.len();
        let closing = statements.take_closing();
        for name in &closing {
            frontend::close(b'S', name, out).map_err(|error| BatchError(error.to_string()))?;
        }
        Ok(Self {
            out,
            statements,
            start,
            closing,
            expected: SmallVec::new(),
            prepares: true,
        })
    }

    /// From here on uses no prepared statements, so that the batch does not depend on what is prepared in the session.
    pub(crate) fn without_prepared_statements(&mut self) {
        self.prepares = false;
    }

    /// Adds a statement, which is prepared at its second use. `role` and `search_path` are those under which it is
    /// parsed.
    pub(crate) fn execute(
        &mut self,
        stage: TransactionStage,
        parsed_as: (&str, &str),
        statement: &SqlStatement,
        sink: Sink,
    ) -> Result<(), BatchError> {
        let how = if statement.force_custom_plan {
            Usage::Unprepared
        } else {
            self.find_usage(parsed_as, &statement.text, statement.params.len())
        };
        self.execute_as(how, stage, &statement.text, &statement.params, sink)
    }

    /// Adds a statement whose text and parameters are not in a [`SqlStatement`].
    pub(crate) fn execute_text<P: BoundParam>(
        &mut self,
        stage: TransactionStage,
        parsed_as: (&str, &str),
        text: &str,
        params: &[P],
        sink: Sink,
    ) -> Result<(), BatchError> {
        let how = self.find_usage(parsed_as, text, params.len());
        self.execute_as(how, stage, text, params, sink)
    }

    fn find_usage(&mut self, (role, search_path): (&str, &str), text: &str, parameters: usize) -> Usage {
        if self.prepares {
            self.statements.use_statement(role, search_path, text, parameters)
        } else {
            Usage::Unprepared
        }
    }

    fn execute_as<P: BoundParam>(
        &mut self,
        how: Usage,
        stage: TransactionStage,
        text: &str,
        params: &[P],
        sink: Sink,
    ) -> Result<(), BatchError> {
        let (columns, preparing) = match how {
            Usage::Prepared(prepared) => {
                self.bind(&prepared.name, params, Some(BINARY))?;
                (Some(Arc::clone(&prepared.columns)), None)
            }
            Usage::Unprepared => {
                self.parse("", text)?;
                self.bind("", params, Some(BINARY))?;
                (None, None)
            }
            Usage::Prepare(preparing) => {
                self.prepare(preparing, text)?;
                self.bind(&self.statements.name_of(preparing), params, Some(BINARY))?;
                (None, Some(preparing))
            }
        };
        if columns.is_none() && preparing.is_none() && !matches!(sink, Sink::Discard) {
            frontend::describe(b'P', "", self.out).map_err(BatchError::from_io)?;
        }
        frontend::execute("", 0, self.out).map_err(BatchError::from_io)?;
        self.expected.push(Expected {
            stage,
            sink,
            columns,
            shape: None,
            preparing,
            is_executed: true,
            is_bound: false,
        });
        Ok(())
    }

    /// Adds a statement whose rows this process writes as JSON, if it is prepared and its types allow it, and returns
    /// true. Otherwise adds at most its preparation and returns false; the caller then lets PostgreSQL write the JSON.
    pub(crate) fn read_json(
        &mut self,
        stage: TransactionStage,
        parsed_as: (&str, &str),
        statement: &SqlStatement,
        rows: impl FnOnce() -> JsonRows,
    ) -> Result<bool, BatchError> {
        if !self.prepares {
            return Ok(false);
        }
        match self.find_usage(parsed_as, &statement.text, statement.params.len()) {
            Usage::Prepared(prepared) => {
                let Some(shape) = &prepared.json else {
                    return Ok(false);
                };
                if statement.force_custom_plan {
                    self.parse("", &statement.text)?;
                    self.bind("", &statement.params, None)?;
                    frontend::describe(b'P', "", self.out).map_err(BatchError::from_io)?;
                } else {
                    self.bind(&prepared.name, &statement.params, None)?;
                }
                frontend::execute("", 0, self.out).map_err(BatchError::from_io)?;
                self.expected.push(Expected {
                    stage,
                    sink: Sink::Json(Box::new(rows())),
                    columns: Some(Arc::clone(&prepared.columns)),
                    shape: Some(shape.clone()),
                    preparing: None,
                    is_executed: true,
                    is_bound: false,
                });
                Ok(true)
            }
            Usage::Unprepared => Ok(false),
            Usage::Prepare(preparing) => {
                self.prepare(preparing, &statement.text)?;
                self.expected.push(Expected {
                    stage,
                    sink: Sink::Discard,
                    columns: None,
                    shape: None,
                    preparing: Some(preparing),
                    is_executed: false,
                    is_bound: false,
                });
                Ok(false)
            }
        }
    }

    /// Ends the batch. `writes` says whether its result is kept if that is possible at all.
    pub(super) fn finish(mut self, writes: bool) -> Collector {
        frontend::sync(self.out);
        Collector {
            expected: std::mem::take(&mut self.expected),
            current: 0,
            refusal: None,
            is_out_of_memory: false,
            small_rows: SmallRows::new(writes),
            queued: Instant::now(),
        }
    }

    /// Removes the messages of the batch from the buffer, as if it had never been begun.
    pub(super) fn discard(self) {
        self.out.truncate(self.start);
        // Otherwise they would stay prepared on the server as long as the connection lives.
        self.statements.close_later(self.closing);
        for expected in self.expected {
            if let Some(preparing) = expected.preparing {
                self.statements.not_prepared(preparing);
            }
        }
    }

    fn parse(&mut self, name: &str, text: &str) -> Result<(), BatchError> {
        frontend::parse(name, text, std::iter::empty(), self.out).map_err(BatchError::from_io)
    }

    fn prepare(&mut self, preparing: Preparing, text: &str) -> Result<(), BatchError> {
        let name = self.statements.name_of(preparing);
        self.parse(&name, text)
            .and_then(|()| frontend::describe(b'S', &name, self.out).map_err(BatchError::from_io))
            .inspect_err(|_| self.statements.not_prepared(preparing))
    }

    fn bind<P: BoundParam>(
        &mut self,
        name: &str,
        params: &[P],
        result: Option<i16>,
    ) -> Result<(), BatchError> {
        let bound = frontend::bind(
            "",
            name,
            params.iter().map(BoundParam::format),
            params,
            |param, out| match param.value() {
                None => Ok(IsNull::Yes),
                Some(value) => {
                    out.extend_from_slice(value);
                    Ok(IsNull::No)
                }
            },
            result,
            self.out,
        );
        bound.map_err(|error| match error {
            BindError::Conversion(error) => BatchError(error.to_string()),
            BindError::Serialization(error) => BatchError::from_io(error),
        })
    }
}

/// A statement that the protocol cannot carry: more than 65 535 parameters, or a NUL in its text.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BatchError(String);

impl BatchError {
    #[expect(clippy::needless_pass_by_value, reason = "for map_err")]
    fn from_io(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

impl Collector {
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
        let current = self.current()?;
        if current.shape.is_some() && current.columns.as_ref() != Some(&found) {
            // The columns are not those it was prepared with, so its rows cannot be written as JSON.
            current.sink = Sink::Discard;
            let refusal = Refusal::stale_statement(current.stage);
            self.refusal.get_or_insert(refusal);
            return Ok(());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_that_is_not_sent_leaves_its_statements_to_be_closed_by_the_next() {
        let mut statements = Statements::new(1);
        let mut out = BytesMut::new();
        statements.close_later(vec!["s1".to_owned()]);

        let refused = Batch::begin(&mut out, &mut statements).expect("begun");
        refused.discard();
        assert!(out.is_empty(), "nothing of it is sent");
        Batch::begin(&mut out, &mut statements)
            .expect("begun")
            .finish(false);

        assert!(out.windows(4).any(|bytes| bytes == b"Ss1\0"), "{out:?}");
        assert!(statements.take_closing().is_empty());
    }
}
