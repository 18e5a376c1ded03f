//! One batch: writes the messages of its statements.

use std::sync::Arc;

use bytes::Bytes;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend::{self, BindError};
use selvedge_memory::DatabaseTurn;
use smallvec::SmallVec;

use super::collector::{Collector, Expected, Sink};
use super::outgoing::{Outgoing, Place};
use super::statements::{Prepared, Preparing, Statements, Usage};
use crate::json::{JsonRows, JsonShape};
use crate::{Param, SqlStatement, TransactionStage};

/// Writes the messages of a batch into the connection's buffer.
pub(crate) struct Batch<'c> {
    out: &'c mut Outgoing,
    statements: &'c mut Statements,
    start: Place,
    /// Names of the statements that the batch closes first.
    closing: Vec<String>,
    expected: SmallVec<[Expected; 4]>,
    /// Whether prepared statements are used.
    prepares: bool,
    turn: Option<DatabaseTurn>,
}

/// Decides whether a statement is sent for its columns before their types are known. If only PostgreSQL can write one of them as JSON, the
/// statement has to run a second time.
#[derive(Clone, Copy)]
pub(crate) struct RepeatConditions<'a> {
    /// Whether the statement changes nothing.
    pub(crate) is_read: bool,
    /// False once an earlier run has shown that only PostgreSQL can write its rows as JSON.
    pub(crate) may_be_written: bool,
    /// Whether a second run has no effect that anybody could notice.
    pub(crate) may_run_twice: &'a dyn Fn() -> bool,
}

impl RepeatConditions<'_> {
    fn is_allowed(self) -> bool {
        self.is_read && self.may_be_written && (self.may_run_twice)()
    }
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
    /// The same bytes, where they are so many that they are not copied.
    fn large_value(&self) -> Option<&Bytes> {
        None
    }
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

    fn large_value(&self) -> Option<&Bytes> {
        match self {
            Self::Text(value) | Self::Binary(value) if Outgoing::is_large(value) => Some(value),
            _ => None,
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
    pub(super) fn begin(out: &'c mut Outgoing, statements: &'c mut Statements) -> Result<Self, BatchError> {
        let start = out.end();
        let closing = statements.take_closing();
        for name in &closing {
            frontend::close(b'S', name, &mut out.messages).map_err(|error| BatchError(error.to_string()))?;
        }
        Ok(Self {
            out,
            statements,
            start,
            closing,
            expected: SmallVec::new(),
            prepares: true,
            turn: None,
        })
    }

    /// Keeps a part of the server's memory until the server has answered, also when nobody waits for it any more.
    pub(crate) fn hold(&mut self, turn: &DatabaseTurn) {
        self.turn = Some(turn.clone());
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
            frontend::describe(b'P', "", &mut self.out.messages).map_err(BatchError::from_io)?;
        }
        frontend::execute("", 0, &mut self.out.messages).map_err(BatchError::from_io)?;
        self.push_expected(stage, sink, preparing).columns = columns;
        Ok(())
    }

    /// Adds a statement whose rows this process writes as JSON, and returns true, if the types of its columns allow it. Of one that may run twice
    /// they need not be known before: if they turn out not to allow it, the batch is refused with [`Refusal::needs_fallback`]. Otherwise adds
    /// at most the statement's preparation and returns false; the caller then lets PostgreSQL write the JSON.
    pub(crate) fn read_json(
        &mut self,
        stage: TransactionStage,
        (role, search_path): (&str, &str),
        (statement, repeat): (&SqlStatement, RepeatConditions<'_>),
        rows: impl FnOnce() -> JsonRows,
    ) -> Result<bool, BatchError> {
        if !self.prepares {
            return Ok(false);
        }
        let parameters = statement.params.len();
        match self
            .statements
            .use_columns(role, search_path, &statement.text, parameters)
        {
            Usage::Prepared(prepared) => {
                let Some(shape) = prepared.shape_for(statement, repeat.is_read) else {
                    return Ok(false);
                };
                self.execute_prepared(&prepared, statement)?;
                let sink = Sink::Json(Box::new(rows()));
                let added = self.push_expected(stage, sink, None);
                added.columns = Some(Arc::clone(&prepared.columns));
                added.shape = Some(shape.clone());
                Ok(true)
            }
            Usage::Unprepared if repeat.is_allowed() => {
                self.execute_unnamed(statement)?;
                self.push_expected(stage, Sink::Json(Box::new(rows())), None);
                Ok(true)
            }
            Usage::Unprepared => Ok(false),
            Usage::Prepare(preparing) => {
                self.prepare(preparing, &statement.text)?;
                if repeat.is_allowed() {
                    self.bind(&self.statements.name_of(preparing), &statement.params, None)?;
                    frontend::execute("", 0, &mut self.out.messages).map_err(BatchError::from_io)?;
                    self.push_expected(stage, Sink::Json(Box::new(rows())), Some(preparing));
                    return Ok(true);
                }
                let added = self.push_expected(stage, Sink::Discard, Some(preparing));
                added.is_executed = false;
                Ok(false)
            }
        }
    }

    /// Notes a statement that was added.
    fn push_expected(
        &mut self,
        stage: TransactionStage,
        sink: Sink,
        preparing: Option<Preparing>,
    ) -> &mut Expected {
        self.expected.push(Expected::new(stage, sink, preparing));
        self.expected.last_mut().expect("it was added")
    }

    fn execute_prepared(&mut self, prepared: &Prepared, statement: &SqlStatement) -> Result<(), BatchError> {
        if !prepared.is_sent_by_name(statement) {
            return self.execute_unnamed(statement);
        }
        self.bind(&prepared.name, &statement.params, None)?;
        frontend::execute("", 0, &mut self.out.messages).map_err(BatchError::from_io)
    }

    fn execute_unnamed(&mut self, statement: &SqlStatement) -> Result<(), BatchError> {
        self.parse("", &statement.text)?;
        self.bind("", &statement.params, None)?;
        frontend::describe(b'P', "", &mut self.out.messages).map_err(BatchError::from_io)?;
        frontend::execute("", 0, &mut self.out.messages).map_err(BatchError::from_io)
    }

    /// Adds a statement whose rows are JSON texts in one column, of which this process makes a document: PostgreSQL holds one row at a time.
    pub(crate) fn read_json_texts(
        &mut self,
        stage: TransactionStage,
        parsed_as: (&str, &str),
        statement: &SqlStatement,
        rows: JsonRows,
    ) -> Result<(), BatchError> {
        self.execute(stage, parsed_as, statement, Sink::Json(Box::new(rows)))?;
        if let Some(added) = self.expected.last_mut() {
            added.shape = Some(JsonShape::of_texts());
        }
        Ok(())
    }

    /// Ends the batch. `writes` says whether its result is kept if that is possible at all.
    pub(super) fn finish(mut self, writes: bool) -> Collector {
        frontend::sync(&mut self.out.messages);
        Collector::new(std::mem::take(&mut self.expected), writes, self.turn.take())
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
        frontend::parse(name, text, std::iter::empty(), &mut self.out.messages).map_err(BatchError::from_io)
    }

    fn prepare(&mut self, preparing: Preparing, text: &str) -> Result<(), BatchError> {
        let name = self.statements.name_of(preparing);
        self.parse(&name, text)
            .and_then(|()| {
                frontend::describe(b'S', &name, &mut self.out.messages).map_err(BatchError::from_io)
            })
            .inspect_err(|_| self.statements.not_prepared(preparing))
    }

    fn bind<P: BoundParam>(
        &mut self,
        name: &str,
        params: &[P],
        result: Option<i16>,
    ) -> Result<(), BatchError> {
        let message = self.out.end();
        let mut large: SmallVec<[(usize, Bytes); 1]> = SmallVec::new();
        let bound = frontend::bind(
            "",
            name,
            params.iter().map(BoundParam::format),
            params,
            |param, out| match (param.large_value(), param.value()) {
                (_, None) => Ok(IsNull::Yes),
                (Some(value), _) => {
                    large.push((out.len(), value.clone()));
                    Ok(IsNull::No)
                }
                (None, Some(value)) => {
                    out.extend_from_slice(value);
                    Ok(IsNull::No)
                }
            },
            result,
            &mut self.out.messages,
        );
        bound.map_err(|error| match error {
            BindError::Conversion(error) => BatchError(error.to_string()),
            BindError::Serialization(error) => BatchError::from_io(error),
        })?;
        match large.is_empty() {
            true => Ok(()),
            false => self.out.insert(message, large).map_err(BatchError::from_io),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_that_is_not_sent_leaves_its_statements_to_be_closed_by_the_next() {
        let mut statements = Statements::new(1, None);
        let mut out = Outgoing::default();
        statements.close_later(vec!["s1".to_owned()]);

        let refused = Batch::begin(&mut out, &mut statements).expect("begun");
        refused.discard();
        assert!(out.is_empty(), "nothing of it is sent");
        Batch::begin(&mut out, &mut statements)
            .expect("begun")
            .finish(false);

        assert!(out.messages.windows(4).any(|bytes| bytes == b"Ss1\0"), "{out:?}");
        assert!(statements.take_closing().is_empty());
    }
}
