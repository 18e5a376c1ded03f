//! One connection on which request transactions follow each other without waiting for each other's answers.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::begin_text;
use super::context::RequestContext;
use super::statement::SqlStatement;
use crate::json::JsonRows;
use crate::wire::{self, Batch, BatchError, Connection, Finished, Label, OnAnswer, Reply, Sink};
use crate::{
    Access, Answer, Database, DatabaseError, End, Isolation, JsonForm, Listed, Listing, Login, RequestError,
    RequestTransaction, RoleSettings, Row, Stage,
};

/// Role and path of statements that depend on neither.
const ANY: (&str, &str) = ("", "");

/// What a connection is told first. The transactions of requests are not begun by a `BEGIN` that says how, so the defaults
/// must say it, whatever was configured for the login. A session that is not ours is told nothing, and has the `BEGIN`.
const DEFAULTS: &str = "select set_config('default_transaction_isolation', 'read committed', false), \
     set_config('default_transaction_read_only', 'off', false), set_config('default_transaction_deferrable', 'off', false)";

/// A connection and how it is used.
pub(super) struct Lane {
    connection: Connection,
    /// Whether PostgreSQL writes dates in the form from which we make JSON.
    iso_dates: bool,
    /// Whether the session is ours. Behind a transaction pooler it is not: what one transaction leaves in it, others meet.
    own_session: bool,
    opened: Instant,
}

/// A transaction on its way, or the first part of it.
pub(super) struct Running {
    reply: Reply,
    /// The answer to the `COMMIT` or `ROLLBACK` of a transaction that needs one.
    end: Option<Reply>,
    committed: bool,
}

/// How a transaction came out, besides its rows.
pub(super) enum Failure {
    /// A prepared statement was out of date, and nothing has run: to be tried again.
    Stale,
    Error(RequestError),
}

impl Failure {
    pub(super) fn into_error(self) -> RequestError {
        match self {
            Self::Error(error) => error,
            Self::Stale => {
                RequestError::Lost("a prepared statement was out of date, again and again".to_owned())
            }
        }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Self::Error(error)
    }
}

impl Lane {
    /// Connects. `on_answer` is called whenever a transaction has been answered.
    pub(super) async fn open(
        database: &Database,
        cached_statements: usize,
        on_answer: OnAnswer,
    ) -> Result<Rc<Self>, RequestError> {
        let opened = database
            .open_wire(Login::Authenticator)
            .await
            .map_err(|error| RequestError::Unavailable(error.describe()))?;
        let iso_dates = opened.iso_dates;
        let lane = Self {
            connection: Connection::start(opened, cached_statements, on_answer),
            iso_dates,
            own_session: cached_statements > 0,
            opened: Instant::now(),
        };
        if !lane.own_session {
            return Ok(Rc::new(lane));
        }
        let defaults = lane.send(None, |batch| {
            batch.execute(Stage::Begin, ANY, &SqlStatement::plain(DEFAULTS), Sink::Discard)
        })?;
        let finished = defaults.finished().await.map_err(RequestError::Unavailable)?;
        match finished.refusal {
            None => Ok(Rc::new(lane)),
            Some(refusal) => Err(RequestError::Unavailable(refusal.fields.message)),
        }
    }

    pub(super) fn is_usable(&self) -> bool {
        self.connection.is_usable()
    }

    pub(super) fn in_flight(&self) -> usize {
        self.connection.in_flight()
    }

    /// Whether something is in flight behind which nothing should be queued.
    pub(super) fn is_blocked(&self) -> bool {
        self.connection.is_blocked()
    }

    /// Whether something is in flight whose end may wait for the disk.
    pub(super) fn is_writing(&self) -> bool {
        self.connection.is_writing()
    }

    /// For how long PostgreSQL has worked on the oldest transaction in flight.
    pub(super) fn busy_for(&self, now: Instant) -> Duration {
        self.connection.busy_for(now)
    }

    pub(super) fn idle_for(&self, now: Instant) -> Duration {
        self.connection.idle_for(now)
    }

    /// For how long the connection has been open.
    pub(super) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.opened)
    }

    pub(super) fn forget_statements(&self) {
        self.connection.forget_statements();
    }

    /// Queues a whole transaction.
    pub(super) fn begin(
        &self,
        label: Label,
        transaction: &RequestTransaction<'_>,
        roles: &RoleSettings,
    ) -> Result<Running, RequestError> {
        let isolation = isolation_of(transaction, roles);
        let committed = transaction.end == End::Commit;
        if self.own_session && committed && isolation == Isolation::ReadCommitted {
            let reply = self.send(Some(label), |batch| {
                settings(batch, transaction, roles, transaction.access)?;
                statement(batch, transaction)
            })?;
            return Ok(Running {
                reply,
                end: None,
                committed,
            });
        }
        let reply = self.send(Some(label), |batch| {
            explicit(batch, transaction, roles, isolation)?;
            if !committed {
                let check = SqlStatement::plain("set constraints all immediate");
                batch.execute(Stage::End, ANY, &check, Sink::Discard)?;
            }
            Ok(())
        })?;
        // A batch of its own: after an error, PostgreSQL skips the rest of a batch.
        let end = Some(self.end(committed)?);
        Ok(Running {
            reply,
            end,
            committed,
        })
    }

    /// Queues a read whose rows become JSON, if the connection knows their types. If not, it learns them in time.
    pub(super) fn begin_list(
        &self,
        label: Label,
        transaction: &RequestTransaction<'_>,
        listing: &Listing<'_>,
        roles: &RoleSettings,
    ) -> Result<(Running, bool), RequestError> {
        let sets_dates = |(name, _): &(String, String)| name.eq_ignore_ascii_case("datestyle");
        let suits = self.own_session
            && self.iso_dates
            && transaction.end == End::Commit
            && isolation_of(transaction, roles) == Isolation::ReadCommitted
            && transaction.pre_request.is_none()
            && !roles.of(transaction.context.role).iter().any(sets_dates);
        if !suits {
            return self.begin_otherwise(label, transaction, listing, roles);
        }
        let mut is_json = false;
        let reply = self.send(Some(label), |batch| {
            settings(batch, transaction, roles, transaction.access)?;
            let parsed_as = (transaction.context.role, transaction.context.search_path);
            let form = listing.form;
            is_json = batch.list(Stage::Statement, parsed_as, transaction.statement, || {
                JsonRows::new(form)
            })?;
            if is_json {
                return batch.execute(Stage::Explain, ANY, listing.after, Sink::Rows(Vec::new()));
            }
            let otherwise = (listing.otherwise)();
            batch.execute(Stage::Statement, parsed_as, &otherwise, Sink::Rows(Vec::new()))
        })?;
        let running = Running {
            reply,
            end: None,
            committed: true,
        };
        Ok((running, is_json))
    }

    fn begin_otherwise(
        &self,
        label: Label,
        transaction: &RequestTransaction<'_>,
        listing: &Listing<'_>,
        roles: &RoleSettings,
    ) -> Result<(Running, bool), RequestError> {
        let statement = (listing.otherwise)();
        let transaction = RequestTransaction {
            statement: &statement,
            ..*transaction
        };
        Ok((self.begin(label, &transaction, roles)?, false))
    }

    /// Queues a transaction without its end: nobody else may use the lane until [`Lane::finish_checked`].
    pub(super) fn begin_checked(
        &self,
        transaction: &RequestTransaction<'_>,
        roles: &RoleSettings,
    ) -> Result<Reply, RequestError> {
        let isolation = isolation_of(transaction, roles);
        self.send(None, |batch| explicit(batch, transaction, roles, isolation))
    }

    /// Ends a transaction as its rows ask for.
    pub(super) async fn finish_checked(
        &self,
        reply: Reply,
        end: End,
        accept: &impl Fn(&[Row]) -> bool,
    ) -> Result<Answer, Failure> {
        let outcome = accepted(finished(reply).await?).map(rows_of);
        let commit = end == End::Commit && outcome.as_ref().is_ok_and(|(rows, _)| accept(rows));
        let check = if end == End::Rollback && outcome.is_ok() {
            let check = SqlStatement::plain("set constraints all immediate");
            Some(self.send(None, |batch| {
                batch.execute(Stage::End, ANY, &check, Sink::Discard)
            })?)
        } else {
            None
        };
        let ended = self.end(commit)?;
        if let Some(check) = check {
            accepted(finished(check).await?)?;
        }
        accepted(finished(ended).await?)?;
        let (rows, explain) = outcome?;
        Ok(Answer {
            rows,
            explain,
            committed: commit,
        })
    }

    fn end(&self, commit: bool) -> Result<Reply, RequestError> {
        let end = SqlStatement::plain(if commit { "commit" } else { "rollback" });
        self.send(None, |batch| batch.execute(Stage::End, ANY, &end, Sink::Discard))
    }

    fn send(
        &self,
        label: Option<Label>,
        compose: impl FnOnce(&mut Batch<'_>) -> Result<(), BatchError>,
    ) -> Result<Reply, RequestError> {
        self.connection.send(label, compose).map_err(|error| {
            RequestError::Database(Box::new(DatabaseError {
                stage: Stage::Statement,
                code: "54000".to_owned(),
                message: error.to_string(),
                detail: None,
                hint: None,
            }))
        })
    }
}

impl Running {
    /// Waits for the transaction's end.
    pub(super) async fn answer(self) -> Result<Answer, Failure> {
        let committed = self.committed;
        let (rows, explain) = rows_of(self.outcome().await?);
        Ok(Answer {
            rows,
            explain,
            committed,
        })
    }

    /// Waits for a list.
    pub(super) async fn listed(self, is_json: bool) -> Result<Listed, Failure> {
        if is_json {
            return Ok(list_of(self.outcome().await?));
        }
        self.answer().await.map(Listed::Answer)
    }

    async fn outcome(self) -> Result<Finished, Failure> {
        // After a refusal the end is a rollback, and nobody waits for it.
        let first = accepted(finished(self.reply).await?)?;
        if let Some(end) = self.end {
            accepted(finished(end).await?)?;
        }
        Ok(first)
    }
}

fn isolation_of(transaction: &RequestTransaction<'_>, roles: &RoleSettings) -> Isolation {
    transaction
        .isolation
        .or_else(|| roles.isolation_of(transaction.context.role))
        .unwrap_or_default()
}

/// The settings, of a transaction that is only a batch: it may write unless they say otherwise.
fn settings(
    batch: &mut Batch<'_>,
    transaction: &RequestTransaction<'_>,
    roles: &RoleSettings,
    access: Access,
) -> Result<(), BatchError> {
    let settings = transaction.context.settings(roles, access);
    batch.execute(Stage::Settings, ANY, &settings, Sink::Discard)
}

fn explicit(
    batch: &mut Batch<'_>,
    transaction: &RequestTransaction<'_>,
    roles: &RoleSettings,
    isolation: Isolation,
) -> Result<(), BatchError> {
    let begin = SqlStatement::plain(begin_text(transaction.access, isolation));
    batch.execute(Stage::Begin, ANY, &begin, Sink::Discard)?;
    // BEGIN has said already what may be written.
    settings(batch, transaction, roles, Access::ReadWrite)?;
    statement(batch, transaction)
}

fn statement(batch: &mut Batch<'_>, transaction: &RequestTransaction<'_>) -> Result<(), BatchError> {
    let context: &RequestContext<'_> = &transaction.context;
    let parsed_as = (context.role, context.search_path);
    if let Some(text) = transaction.pre_request {
        batch.execute(
            Stage::PreRequest,
            parsed_as,
            &SqlStatement::plain(text),
            Sink::Discard,
        )?;
    }
    batch.execute(
        Stage::Statement,
        parsed_as,
        transaction.statement,
        Sink::Rows(Vec::new()),
    )?;
    match transaction.explain {
        Some(explain) => batch.execute(Stage::Explain, parsed_as, explain, Sink::Rows(Vec::new())),
        None => Ok(()),
    }
}

async fn finished(reply: Reply) -> Result<Finished, RequestError> {
    reply.finished().await.map_err(RequestError::Lost)
}

fn failure(refusal: wire::Refusal) -> Failure {
    if refusal.is_stale() {
        return Failure::Stale;
    }
    Failure::Error(RequestError::of(refusal))
}

fn accepted(mut finished: Finished) -> Result<Finished, Failure> {
    match finished.refusal.take() {
        Some(refusal) => Err(failure(refusal)),
        None => Ok(finished),
    }
}

/// Rows of the statement, and of what ran after it.
fn rows_of(finished: Finished) -> (Vec<Row>, Vec<Row>) {
    let (mut statement, mut after) = (Vec::new(), Vec::new());
    for (stage, sink) in finished.sinks {
        match (stage, sink) {
            (Stage::Statement, Sink::Rows(rows)) => statement = rows,
            (Stage::Explain, Sink::Rows(rows)) => after = rows,
            _ => {}
        }
    }
    (statement, after)
}

fn list_of(finished: Finished) -> Listed {
    let mut after = Vec::new();
    let mut document = JsonRows::new(JsonForm::Array);
    for (_, sink) in finished.sinks {
        match sink {
            Sink::Json(json) => document = *json,
            Sink::Rows(rows) => after = rows,
            Sink::Discard => {}
        }
    }
    let (body, rows) = document.finish();
    Listed::Json { body, rows, after }
}
