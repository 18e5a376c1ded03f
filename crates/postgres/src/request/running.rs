//! A transaction that was sent: waits for its end, and returns why it failed and whether it can be retried.

use super::AccessMode;
use super::error::RequestError;
use super::result::{JsonReadResult, TransactionResult};
use super::stage::TransactionStage;
use crate::json::{JsonDocument, JsonForm, JsonRows};
use crate::wire::{self, Finished, Reply, Row, STANDBY_ERROR, Sink};

/// A transaction that is being executed.
pub(super) struct Running {
    pub(super) reply: Reply,
    /// The result of `COMMIT` or `ROLLBACK`, for a transaction that was sent with a `BEGIN`.
    pub(super) end: Option<Reply>,
    pub(super) commits: bool,
    /// Whether it changes nothing.
    pub(super) is_read: bool,
}

/// How the statements of a transaction are sent to PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    Shared,
    /// On a connection for itself and without prepared statements, so that nothing that others do in the session can
    /// make it fail.
    Isolated,
}

/// Why a transaction failed.
pub(super) enum Failure {
    /// A prepared statement was out of date. Nothing has run, so the transaction is tried again.
    StaleStatement,
    /// The transaction before it has changed the session's settings. A read may have returned wrong values; a write was
    /// refused. Both may be tried again.
    ChangedSession,
    /// The server is a standby, so it cannot write. Nothing has run.
    Standby,
    /// Only PostgreSQL can write the rows as JSON. Nothing has changed.
    NeedsFallback,
    /// The server ended the session because of another transaction that was sent before. Nothing has run. Has the reason.
    EndedByOther(String),
    Error(RequestError),
}

impl Failure {
    /// Tells a write that was refused because the server is a standby from one that was refused for another reason.
    ///
    /// 25006 alone does not say it, as a function may make its own transaction read-only; and `begin … read write` fails with
    /// 0A000 on a standby.
    pub(super) fn classify(self, was_standby: bool, access: AccessMode) -> Self {
        match self {
            Self::Error(RequestError::Database(error))
                if was_standby
                    && access == AccessMode::ReadWrite
                    && (error.code == "25006"
                        || (error.code == "0A000" && error.stage == TransactionStage::Begin)) =>
            {
                Self::Standby
            }
            failure => failure,
        }
    }

    pub(super) fn into_error(self) -> RequestError {
        match self {
            Self::Error(error) => error,
            Self::StaleStatement => {
                RequestError::Lost("a prepared statement was out of date, again and again".to_owned())
            }
            Self::EndedByOther(reason) => RequestError::Lost(reason),
            Self::NeedsFallback => {
                RequestError::Lost("the types of the rows have changed, again and again".to_owned())
            }
            Self::Standby => RequestError::Unavailable(STANDBY_ERROR.to_owned()),
            Self::ChangedSession => {
                RequestError::Lost("the settings of the session have changed, again and again".to_owned())
            }
        }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Self::Error(error)
    }
}

impl Running {
    /// Waits for the transaction's end.
    pub(super) async fn result(self) -> Result<TransactionResult, Failure> {
        let commits = self.commits;
        let (rows, explain) = take_rows(self.finish().await?);
        Ok(TransactionResult {
            rows,
            explain,
            is_committed: commits,
        })
    }

    /// Waits for a read that [`Pipeline::begin_json_read`] queued.
    pub(super) async fn json_result(self, is_fallback: bool) -> Result<JsonReadResult, Failure> {
        Ok(take_json_result(self.finish().await?, is_fallback))
    }

    async fn finish(self) -> Result<Finished, Failure> {
        let first = wait_for(self.reply).await?;
        // A write that took effect cannot be tried again.
        if first.in_changed_session && (self.is_read || first.refusal.is_some()) {
            return Err(Failure::ChangedSession);
        }
        // After an error the end only rolls back; its result does not matter.
        let first = check_refusal(first)?;
        if let Some(end) = self.end {
            check_refusal(wait_for(end).await?)?;
        }
        if first.is_out_of_memory {
            let is_committed = self.commits && !self.is_read;
            return Err(RequestError::OutOfMemory { is_committed }.into());
        }
        Ok(first)
    }
}

pub(super) async fn wait_for(reply: Reply) -> Result<Finished, Failure> {
    reply.finished().await.map_err(|loss| {
        if loss.has_not_begun {
            Failure::EndedByOther(loss.reason)
        } else {
            Failure::Error(RequestError::Lost(loss.reason))
        }
    })
}

fn classify_refusal(refusal: wire::Refusal) -> Failure {
    if refusal.needs_fallback {
        return Failure::NeedsFallback;
    }
    if refusal.is_stale() {
        return Failure::StaleStatement;
    }
    Failure::Error(RequestError::from_refusal(refusal))
}

pub(super) fn check_refusal(mut finished: Finished) -> Result<Finished, Failure> {
    match finished.refusal.take() {
        Some(refusal) => Err(classify_refusal(refusal)),
        None => Ok(finished),
    }
}

/// Rows of the main statement, and of the one after it.
pub(super) fn take_rows(finished: Finished) -> (Vec<Row>, Vec<Row>) {
    let (mut statement, mut after) = (Vec::new(), Vec::new());
    for (stage, sink) in finished.sinks {
        match (stage, sink) {
            (TransactionStage::Statement, Sink::Rows(rows)) => statement = rows,
            (TransactionStage::Explain, Sink::Rows(rows)) => after = rows,
            _ => {}
        }
    }
    (statement, after)
}

fn take_json_result(finished: Finished, is_fallback: bool) -> JsonReadResult {
    let mut after = Vec::new();
    let empty = JsonDocument {
        form: JsonForm::Array,
        has_total: false,
    };
    let mut document = JsonRows::new(empty, false);
    for (_, sink) in finished.sinks {
        match sink {
            Sink::Json(json) => document = *json,
            Sink::Rows(rows) => after = rows,
            Sink::Discard => {}
        }
    }
    let (body, rows, total) = document.finish();
    JsonReadResult {
        body,
        rows,
        total,
        after,
        is_fallback,
    }
}
