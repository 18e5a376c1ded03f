//! One batch: the messages that we send, and what has come back for each of its statements.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend::{self, BindError};
use smallvec::SmallVec;

use super::server_message::{ErrorFields, columns};
use super::statements::{Preparing, Statements, Use};
use super::{Column, Row};
use crate::json::{JsonRows, JsonShape};
use crate::{Param, SqlStatement, Stage};

/// Where a statement's rows go.
#[derive(Debug)]
pub(crate) enum Sink {
    Discard,
    Rows(Vec<Row>),
    Json(Box<JsonRows>),
}

/// A statement of which answers are expected.
#[derive(Debug)]
struct Expected {
    stage: Stage,
    sink: Sink,
    columns: Option<Arc<[Column]>>,
    /// How rows become JSON: that of the prepared statement.
    shape: Option<JsonShape>,
    preparing: Option<Preparing>,
    /// Whether it is executed, and not only prepared.
    runs: bool,
    bound: bool,
}

/// The routine of PostgreSQL that finds a prepared statement out of date.
const PLAN_CHECK: &str = "RevalidateCachedQuery";

/// What PostgreSQL refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) stage: Stage,
    pub(crate) fields: ErrorFields,
    /// Whether the refused statement may have begun to run.
    pub(crate) began: bool,
}

impl Refusal {
    fn stale(stage: Stage) -> Self {
        let fields = ErrorFields {
            code: "0A000".to_owned(),
            message: "the types of a result have changed".to_owned(),
            routine: PLAN_CHECK.to_owned(),
            ..ErrorFields::default()
        };
        Self {
            stage,
            fields,
            began: false,
        }
    }

    /// Whether only our knowledge of the prepared statement was old: its table has changed, or somebody has deallocated
    /// it. Nothing has run then.
    pub(crate) fn is_stale(&self) -> bool {
        let changed = self.fields.code == "0A000" && self.fields.routine == PLAN_CHECK;
        !self.began && (changed || self.fields.code == "26000")
    }
}

/// A batch that has been answered.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    /// What the statements gave, in order.
    pub(crate) sinks: SmallVec<[(Stage, Sink); 4]>,
    pub(crate) refusal: Option<Refusal>,
    /// From the first moment at which the server could work on it.
    pub(super) duration: Duration,
}

/// Answers being collected.
#[derive(Debug)]
pub(super) struct Collector {
    expected: SmallVec<[Expected; 4]>,
    at: usize,
    refusal: Option<Refusal>,
    queued: Instant,
}

/// A message that does not fit what we sent: the connection is of no use any more.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutOfStep;

/// Composes a batch.
pub(crate) struct Batch<'c> {
    out: &'c mut BytesMut,
    statements: &'c mut Statements,
    start: usize,
    expected: SmallVec<[Expected; 4]>,
}

/// The binary format, for columns whose values we hand on as values.
const BINARY: i16 = 1;

impl<'c> Batch<'c> {
    pub(super) fn begin(out: &'c mut BytesMut, statements: &'c mut Statements) -> Result<Self, BatchError> {
        let start = out.len();
        for name in statements.take_closing() {
            frontend::close(b'S', &name, out).map_err(|error| BatchError(error.to_string()))?;
        }
        Ok(Self {
            out,
            statements,
            start,
            expected: SmallVec::new(),
        })
    }

    /// Adds a statement, prepared when it is worth it. `role` and `search_path` are those under which it is parsed.
    pub(crate) fn execute(
        &mut self,
        stage: Stage,
        (role, search_path): (&str, &str),
        statement: &SqlStatement,
        sink: Sink,
    ) -> Result<(), BatchError> {
        let how = if statement.force_custom_plan {
            Use::Unprepared
        } else {
            self.statements.use_statement(role, search_path, &statement.text)
        };
        let text = statement.text.as_str();
        let (name, columns, preparing) = match how {
            Use::Prepared(prepared) => (prepared.name.clone(), Some(Arc::clone(&prepared.columns)), None),
            Use::Unprepared => {
                self.parse("", text)?;
                (String::new(), None, None)
            }
            Use::Prepare(preparing) => {
                self.prepare(preparing, text)?;
                (preparing.name(), None, Some(preparing))
            }
        };
        self.bind(&name, &statement.params, Some(BINARY))?;
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
            runs: true,
            bound: false,
        });
        Ok(())
    }

    /// Adds a statement whose rows become JSON, if it is prepared and its types allow it. Otherwise it adds nothing but,
    /// in time, the preparation, and the caller has to ask PostgreSQL for JSON.
    pub(crate) fn list(
        &mut self,
        stage: Stage,
        (role, search_path): (&str, &str),
        statement: &SqlStatement,
        rows: impl FnOnce() -> JsonRows,
    ) -> Result<bool, BatchError> {
        match self.statements.use_statement(role, search_path, &statement.text) {
            Use::Prepared(prepared) => {
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
                    runs: true,
                    bound: false,
                });
                Ok(true)
            }
            Use::Unprepared => Ok(false),
            Use::Prepare(preparing) => {
                self.prepare(preparing, &statement.text)?;
                self.expected.push(Expected {
                    stage,
                    sink: Sink::Discard,
                    columns: None,
                    shape: None,
                    preparing: Some(preparing),
                    runs: false,
                    bound: false,
                });
                Ok(false)
            }
        }
    }

    /// Ends the batch.
    pub(super) fn finish(mut self) -> Collector {
        frontend::sync(self.out);
        Collector {
            expected: std::mem::take(&mut self.expected),
            at: 0,
            refusal: None,
            queued: Instant::now(),
        }
    }

    /// Takes everything back, as if it had never been begun.
    pub(super) fn take_back(self) {
        self.out.truncate(self.start);
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
        let name = preparing.name();
        self.parse(&name, text)
            .and_then(|()| frontend::describe(b'S', &name, self.out).map_err(BatchError::from_io))
            .inspect_err(|_| self.statements.not_prepared(preparing))
    }

    fn bind(&mut self, name: &str, params: &[Param], result: Option<i16>) -> Result<(), BatchError> {
        let formats = params.iter().map(|param| match param {
            Param::Binary(_) => BINARY,
            Param::Null | Param::Text(_) => 0,
        });
        let bound = frontend::bind(
            "",
            name,
            formats,
            params,
            |param, out| match param {
                Param::Null => Ok(IsNull::Yes),
                Param::Text(value) | Param::Binary(value) => {
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

/// A statement that no message can carry: more parameters than the protocol counts, or a NUL in its text.
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

    /// Takes one message of the batch, `ReadyForQuery` excepted.
    pub(super) fn take(
        &mut self,
        tag: u8,
        body: Body<'_>,
        statements: &mut Statements,
    ) -> Result<(), OutOfStep> {
        match tag {
            b'D' => return self.row(body),
            b'2' => self.current()?.bound = true,
            b'T' | b'n' => {
                let found: Arc<[Column]> = match tag {
                    b'T' => columns(body.bytes()).ok_or(OutOfStep)?.into(),
                    _ => Arc::new([]),
                };
                let current = self.current()?;
                if current.shape.is_some() && current.columns.as_ref() != Some(&found) {
                    // Not the types that it had when it was prepared: these rows are not what we can write.
                    current.sink = Sink::Discard;
                    let refusal = Refusal::stale(current.stage);
                    self.refusal.get_or_insert(refusal);
                    return Ok(());
                }
                current.columns = Some(Arc::clone(&found));
                if let Some(preparing) = current.preparing.take() {
                    statements.prepared(preparing, found);
                }
                if !current.runs {
                    self.at += 1;
                }
            }
            b'C' | b'I' => {
                self.current()?;
                self.at += 1;
            }
            b'E' => {
                let current = self.expected.get(self.at);
                self.refusal.get_or_insert(Refusal {
                    stage: current.map_or(Stage::End, |current| current.stage),
                    began: current.is_none_or(|current| current.bound),
                    fields: ErrorFields::parse(body.bytes()),
                });
            }
            // ParseComplete, CloseComplete, ParameterDescription
            b'1' | b'3' | b't' => {}
            _ => return Err(OutOfStep),
        }
        Ok(())
    }

    /// Whoever waited has gone: rows need not be kept.
    pub(super) fn discard_rows(&mut self) {
        for expected in &mut self.expected {
            expected.sink = Sink::Discard;
        }
    }

    pub(super) fn finish(self, statements: &mut Statements, duration: Duration) -> Finished {
        let mut sinks = SmallVec::new();
        for expected in self.expected {
            if let Some(preparing) = expected.preparing {
                statements.not_prepared(preparing);
            }
            if expected.runs {
                sinks.push((expected.stage, expected.sink));
            }
        }
        Finished {
            sinks,
            refusal: self.refusal,
            duration,
        }
    }

    fn current(&mut self) -> Result<&mut Expected, OutOfStep> {
        self.expected.get_mut(self.at).ok_or(OutOfStep)
    }

    fn row(&mut self, body: Body<'_>) -> Result<(), OutOfStep> {
        let current = self.current()?;
        match (&mut current.sink, &current.columns, &current.shape) {
            (Sink::Discard, ..) => Ok(()),
            (Sink::Rows(rows), Some(columns), _) => {
                rows.push(Row::parse(Arc::clone(columns), body.into_bytes()).ok_or(OutOfStep)?);
                Ok(())
            }
            (Sink::Json(rows), _, Some(shape)) => rows.push(shape, body.bytes()).ok_or(OutOfStep),
            _ => Err(OutOfStep),
        }
    }
}

/// A message's body: in the read buffer when it is short, else cut out of it.
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
