//! One connection on which requests follow each other without waiting for each other's answers.
//!
//! All messages of a transaction are queued in one poll, so nothing can come between `BEGIN` and `COMMIT`; and because
//! they are queued before the first answer, a client that hangs up cannot leave a transaction open.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use futures_util::future::OptionFuture;
use futures_util::{TryStreamExt, join};
use postgres_types::Type;
use tokio_postgres::{Client, Error, Row, Statement};

use super::context::RequestContext;
use super::statement_cache::{StatementCache, StatementKey, Use};
use super::{begin_text, statement::SqlStatement};
use crate::{
    Access, Answer, Database, End, Isolation, Login, RequestError, RequestTransaction, RoleSettings, Stage,
};

/// Role and path of statements that depend on neither.
const ANY: &str = "";

/// A connection, the statements prepared on it, and the requests whose answers are still to come.
pub(super) struct Lane {
    client: Client,
    begin_read: Statement,
    begin_write: Statement,
    commit: Statement,
    rollback: Statement,
    statements: RefCell<StatementCache>,
    /// When each request in flight was queued, oldest first: answers come in this order.
    queued: RefCell<VecDeque<Instant>>,
    broken: Cell<bool>,
    /// A transaction waits for the decision about its end: nothing else may be sent until then.
    undecided: Cell<bool>,
    /// What is to be prepared after that.
    to_prepare: RefCell<Vec<StatementKey>>,
    idle_since: Cell<Instant>,
}

impl Lane {
    /// Connects, and prepares what every request needs.
    pub(super) async fn open(
        database: &Database,
        cached_statements: usize,
    ) -> Result<Rc<Self>, RequestError> {
        let (client, connection) = database
            .open(Login::Authenticator)
            .await
            .map_err(|error| RequestError::unavailable(&error))?;
        tokio::task::spawn_local(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a database connection ended");
            }
        });
        let (begin_read, begin_write, commit, rollback) = futures_util::try_join!(
            client.prepare(begin_text(Access::ReadOnly, Isolation::ReadCommitted)),
            client.prepare(begin_text(Access::ReadWrite, Isolation::ReadCommitted)),
            client.prepare("commit"),
            client.prepare("rollback"),
        )
        .map_err(|error| RequestError::unavailable(&error))?;
        Ok(Rc::new(Self {
            client,
            begin_read,
            begin_write,
            commit,
            rollback,
            statements: RefCell::new(StatementCache::new(cached_statements)),
            queued: RefCell::default(),
            broken: Cell::new(false),
            undecided: Cell::new(false),
            to_prepare: RefCell::default(),
            idle_since: Cell::new(Instant::now()),
        }))
    }

    pub(super) fn is_usable(&self) -> bool {
        !self.broken.get() && !self.client.is_closed()
    }

    pub(super) fn in_flight(&self) -> usize {
        self.queued.borrow().len()
    }

    /// For how long the oldest request in flight has waited for its answer.
    pub(super) fn oldest_age(&self, now: Instant) -> Duration {
        self.queued
            .borrow()
            .front()
            .map_or(Duration::ZERO, |queued| now.saturating_duration_since(*queued))
    }

    pub(super) fn idle_for(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.idle_since.get())
    }

    pub(super) fn forget_statements(&self) {
        self.statements.borrow_mut().clear();
    }

    pub(super) fn note_queued(&self) {
        self.queued.borrow_mut().push_back(Instant::now());
    }

    pub(super) fn note_answered(&self) {
        let mut queued = self.queued.borrow_mut();
        queued.pop_front();
        if queued.is_empty() {
            self.idle_since.set(Instant::now());
        }
    }

    /// Resolves when everything queued so far has been answered.
    pub(super) async fn drained(&self) {
        // The connection answers in order, so this answer is the last one. A failure means that no more will come.
        let _ = self.client.check_connection().await;
    }

    /// Runs a whole transaction in one round trip.
    pub(super) async fn run(
        self: &Rc<Self>,
        transaction: RequestTransaction<'_>,
        roles: &RoleSettings,
    ) -> Result<Answer, RequestError> {
        let end = transaction.end;
        let deferred = OptionFuture::from(
            (end == End::Rollback).then(|| self.execute_text("set constraints all immediate")),
        );
        let last = match end {
            End::Commit => &self.commit,
            End::Rollback => &self.rollback,
        };
        let (queries, deferred, ended) =
            join!(self.queries(transaction, roles), deferred, self.execute(last));
        let (rows, explain) = queries?;
        deferred
            .unwrap_or(Ok(()))
            .map_err(|error| RequestError::at(Stage::End, &error))?;
        ended.map_err(|error| RequestError::at(Stage::End, &error))?;
        Ok(Answer {
            rows,
            explain,
            committed: end == End::Commit,
        })
    }

    /// Runs a transaction whose end depends on its rows: two round trips, and nobody else may use the lane meanwhile.
    pub(super) async fn run_checked(
        self: &Rc<Self>,
        transaction: RequestTransaction<'_>,
        roles: &RoleSettings,
        accept: impl FnOnce(&[Row]) -> bool,
    ) -> Result<Answer, RequestError> {
        let end = transaction.end;
        self.undecided.set(true);
        let queries = self.queries(transaction, roles).await;
        let commit = end == End::Commit && queries.as_ref().is_ok_and(|(rows, _)| accept(rows));
        let dry_run = end == End::Rollback && queries.is_ok();
        let deferred =
            OptionFuture::from(dry_run.then(|| self.execute_text("set constraints all immediate")));
        let (deferred, ended) = join!(
            deferred,
            self.execute(if commit { &self.commit } else { &self.rollback })
        );
        self.undecided.set(false);
        // Before the lane is given back: on it, another checked transaction could follow and be interrupted.
        for key in self.to_prepare.take() {
            self.prepare(&key).await;
        }
        let (rows, explain) = queries?;
        deferred
            .unwrap_or(Ok(()))
            .map_err(|error| RequestError::at(Stage::End, &error))?;
        ended.map_err(|error| RequestError::at(Stage::End, &error))?;
        Ok(Answer {
            rows,
            explain,
            committed: commit,
        })
    }

    /// Everything but the end. The futures are polled in the order in which they stand here.
    async fn queries(
        self: &Rc<Self>,
        transaction: RequestTransaction<'_>,
        roles: &RoleSettings,
    ) -> Result<(Vec<Row>, Vec<Row>), RequestError> {
        let context = transaction.context;
        let isolation = transaction
            .isolation
            .or_else(|| roles.isolation_of(context.role))
            .unwrap_or_default();
        let settings = context.settings(roles);
        let pre_request = transaction.pre_request.map(SqlStatement::plain);
        let (begun, settings, pre_request, rows, explain) = join!(
            self.begin(transaction.access, isolation),
            self.query(ANY, ANY, &settings),
            OptionFuture::from(pre_request.as_ref().map(|statement| self.query(
                context.role,
                context.search_path,
                statement
            ))),
            self.query(context.role, context.search_path, transaction.statement),
            OptionFuture::from(transaction.explain.map(|statement| self.query(
                context.role,
                context.search_path,
                statement
            ))),
        );
        // The first failure is the one to report: after it, PostgreSQL refuses the rest of the transaction.
        begun.map_err(|error| {
            // Without BEGIN the rest ran outside a transaction: harmless, because the login owns nothing and
            // inherits nothing, but not a connection to go on with.
            self.broken.set(true);
            RequestError::at(Stage::Begin, &error)
        })?;
        settings.map_err(|error| RequestError::at(Stage::Settings, &error))?;
        pre_request
            .transpose()
            .map_err(|error| RequestError::at(Stage::PreRequest, &error))?;
        let rows = rows.map_err(|error| RequestError::at(Stage::Statement, &error))?;
        let explain = explain
            .transpose()
            .map_err(|error| RequestError::at(Stage::Explain, &error))?;
        Ok((rows, explain.unwrap_or_default()))
    }

    async fn begin(&self, access: Access, isolation: Isolation) -> Result<(), Error> {
        match (access, isolation) {
            (Access::ReadOnly, Isolation::ReadCommitted) => self.execute(&self.begin_read).await,
            (Access::ReadWrite, Isolation::ReadCommitted) => self.execute(&self.begin_write).await,
            (_, Isolation::RepeatableRead | Isolation::Serializable) => {
                self.execute_text(begin_text(access, isolation)).await
            }
        }
    }

    /// Executes a statement, prepared when it is worth it. Queues its messages in the first poll, whichever way.
    async fn query(
        self: &Rc<Self>,
        role: &str,
        search_path: &str,
        statement: &SqlStatement,
    ) -> Result<Vec<Row>, Error> {
        let how = if statement.force_custom_plan {
            Use::Unprepared
        } else {
            self.statements
                .borrow_mut()
                .use_statement(role, search_path, &statement.text)
        };
        match how {
            Use::Prepared(prepared) => {
                self.client
                    .query_raw(&prepared, statement.params.iter())
                    .await?
                    .try_collect()
                    .await
            }
            Use::Unprepared => self.query_text(statement).await,
            Use::UnpreparedThenPrepare => {
                let rows = self.query_text(statement).await;
                let key = StatementKey {
                    role: role.to_owned(),
                    search_path: search_path.to_owned(),
                    text: statement.text.clone(),
                };
                if self.undecided.get() {
                    self.to_prepare.borrow_mut().push(key);
                } else {
                    let lane = self.clone();
                    tokio::task::spawn_local(async move { lane.prepare(&key).await });
                }
                rows
            }
        }
    }

    async fn query_text(&self, statement: &SqlStatement) -> Result<Vec<Row>, Error> {
        let params = statement.params.iter().map(|param| (param, Type::UNKNOWN));
        self.client
            .query_typed_raw(&statement.text, params)
            .await?
            .try_collect()
            .await
    }

    async fn execute(&self, statement: &Statement) -> Result<(), Error> {
        self.client
            .execute_raw(statement, std::iter::empty::<i32>())
            .await
            .map(drop)
    }

    async fn execute_text(&self, text: &str) -> Result<(), Error> {
        self.client.execute_typed(text, &[]).await.map(drop)
    }

    /// Prepares a statement for its next use, in a transaction of its own: parsing depends on role and search path.
    async fn prepare(self: &Rc<Self>, key: &StatementKey) {
        let prepared = if key.role == ANY {
            self.client.prepare(&key.text).await
        } else {
            let settings =
                RequestContext::for_parsing(&key.search_path, &key.role).settings(&RoleSettings::default());
            let (_, _, prepared, _) = join!(
                self.execute(&self.begin_read),
                self.query_text(&settings),
                self.client.prepare(&key.text),
                self.execute(&self.commit),
            );
            prepared
        };
        self.statements.borrow_mut().prepared(key, prepared.ok());
    }
}
