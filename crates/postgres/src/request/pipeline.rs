//! One connection on which request transactions are sent without waiting for the results of those before them.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::running::{Attempt, Failure, Running, check_refusal, take_rows, wait_for};
use super::statement::SqlStatement;
use super::transaction_statements::{
    ANY_ROLE, Output, isolation_for, prepare_for, push_explicit, push_idle_limit, push_json_read,
    push_settings, push_statements,
};
use crate::wire::{Batch, BatchError, BatchLabel, Connection, Loss, OnFinished, Reply, Sink};
use crate::{
    AccessMode, Database, DatabaseError, Isolation, JsonRead, Login, RequestError, RequestPoolConfig,
    RequestTransaction, RoleSettings, Row, TransactionEnd, TransactionResult, TransactionStage,
};

/// The first statement of a connection. Most request transactions have no `BEGIN` that names isolation and access mode,
/// so the session's defaults must be right, whatever is configured for the login. Returns whether they were right before.
/// Behind a transaction pooler the session is shared, so nothing is set there and every transaction has a `BEGIN`.
const SESSION_DEFAULTS: &str = "select ((current_setting('default_transaction_isolation'), \
     current_setting('default_transaction_read_only'), current_setting('default_transaction_deferrable')) \
     = ('read committed', 'off', 'off'))::text, set_config('default_transaction_isolation', 'read committed', false), \
     set_config('default_transaction_read_only', 'off', false), set_config('default_transaction_deferrable', 'off', false)";

/// Undoes every change of the session's settings; the transaction's own settings end with the transaction anyway.
const RESET: &str = "reset all";

/// A connection that has been idle is reset before its next use when the last reset was this long ago: reads may have
/// changed settings that the server does not report, by functions in views and policies.
const RESET_WHEN_IDLE: Duration = Duration::from_secs(1);

/// A connection, and what decides how transactions are sent on it.
pub(super) struct Pipeline {
    connection: Connection,
    /// Whether `DateStyle` is ISO; other dates cannot become JSON in this process.
    has_iso_dates: bool,
    /// False behind a transaction pooler, where each transaction may run in another session.
    owns_session: bool,
    /// Whether [`RESET`] alone restores the defaults that this connection began with; otherwise [`SESSION_DEFAULTS`] has to
    /// follow.
    has_right_defaults: bool,
    last_reset: Cell<Instant>,
    /// Whether the server was a standby at login. It may have been promoted since.
    was_standby: bool,
    /// How values are read and written, as names and values of settings at login.
    formats: Vec<(String, String)>,
    /// When the connection reaches the maximum lifetime, after which it is closed as soon as it is idle. `None` if that time is
    /// beyond what the clock can represent, so that it never expires.
    expires: Option<Instant>,
}

impl Pipeline {
    /// Connects. `on_finished` is called whenever a transaction has finished.
    pub(super) async fn open(
        database: &Database,
        config: &RequestPoolConfig,
        on_finished: OnFinished,
    ) -> Result<Rc<Self>, RequestError> {
        let cached_statements = config.cached_statements;
        let mut opened = database
            .open_wire(Login::Authenticator)
            .await
            .map_err(|error| RequestError::Unavailable(error.describe()))?;
        let owns_session = cached_statements > 0;
        if owns_session {
            // By `SESSION_DEFAULTS`, also in a database whose sessions begin read-only.
            opened.settings.expect("default_transaction_read_only", "off");
        }
        let mut pipeline = Self {
            has_iso_dates: opened.iso_dates,
            was_standby: opened.is_standby,
            formats: opened.settings.format_settings(),
            connection: Connection::start(opened, cached_statements, config.memory.clone(), on_finished),
            owns_session,
            has_right_defaults: false,
            last_reset: Cell::new(Instant::now()),
            expires: Instant::now().checked_add(config.max_lifetime),
        };
        if !pipeline.owns_session {
            return Ok(Rc::new(pipeline));
        }
        let defaults = pipeline.send(None, |batch| {
            batch.execute(
                TransactionStage::Begin,
                ANY_ROLE,
                &SqlStatement::plain(SESSION_DEFAULTS),
                Sink::Rows(Vec::new()),
            )
        })?;
        let lost = |loss: Loss| RequestError::Unavailable(loss.reason);
        let finished = defaults.finished().await.map_err(lost)?;
        if let Some(refusal) = finished.refusal {
            return Err(RequestError::Unavailable(refusal.fields.message));
        }
        if let Some((_, Sink::Rows(rows))) = finished.sinks.first() {
            pipeline.has_right_defaults = rows.first().is_some_and(|row| row.get::<_, &str>(0) == "true");
        }
        Ok(Rc::new(pipeline))
    }

    pub(super) fn is_usable(&self) -> bool {
        self.connection.is_usable()
    }

    pub(super) fn in_flight(&self) -> usize {
        self.connection.in_flight()
    }

    /// Whether a possibly slow transaction is in flight, behind which nothing should be queued.
    pub(super) fn is_blocked(&self) -> bool {
        self.connection.is_blocked()
    }

    /// Whether a transaction is in flight whose commit may wait for the disk.
    pub(super) fn is_writing(&self) -> bool {
        self.connection.is_writing()
    }

    /// When PostgreSQL began to work on the oldest transaction in flight; `None` if there is none.
    pub(super) fn busy_since(&self) -> Option<Instant> {
        self.connection.busy_since()
    }

    pub(super) fn idle_for(&self, now: Instant) -> Duration {
        self.connection.idle_for(now)
    }

    /// Whether the connection has reached the maximum lifetime of the configuration.
    pub(super) fn is_expired(&self, now: Instant) -> bool {
        self.expires.is_some_and(|expires| now > expires)
    }

    pub(super) fn forget_statements(&self) {
        self.connection.forget_statements();
    }

    /// Takes no further transactions.
    pub(super) fn retire(&self) {
        self.connection.retire();
    }

    pub(super) fn was_standby(&self) -> bool {
        self.was_standby
    }

    /// The subject of the possibly slow transaction that is in flight.
    pub(super) fn blocking_subject(&self) -> Option<u64> {
        self.connection.blocking_subject()
    }

    /// Queues a whole transaction: without `BEGIN` where the session's defaults fit it, else with `BEGIN` and an end.
    pub(super) fn begin(
        &self,
        label: BatchLabel,
        transaction: &RequestTransaction<'_>,
        roles: &RoleSettings,
        attempt: Attempt,
    ) -> Result<Running, RequestError> {
        self.begin_with_output(label, transaction, roles, attempt, Output::Rows)
    }

    fn begin_with_output(
        &self,
        label: BatchLabel,
        transaction: &RequestTransaction<'_>,
        roles: &RoleSettings,
        attempt: Attempt,
        output: Output,
    ) -> Result<Running, RequestError> {
        let isolation = isolation_for(transaction, roles);
        let commits = transaction.end == TransactionEnd::Commit;
        let is_read = transaction.access == AccessMode::ReadOnly;
        let formats = self.find_formats_to_set(transaction);
        self.reset_after_idling();
        // Without `BEGIN` and `COMMIT` the server runs two statements less per request. With Citus they are necessary, because
        // its workers take part in explicit transactions only.
        if self.owns_session && commits && isolation == Isolation::ReadCommitted && !roles.has_citus() {
            let reply = self.send_and_reset(label, transaction, roles, |batch| {
                prepare_for(attempt, batch);
                push_settings(batch, transaction, roles, transaction.access, formats)?;
                push_statements(batch, transaction, roles, output)
            })?;
            return Ok(Running {
                reply,
                end: None,
                commits,
                is_read,
            });
        }
        let reply = self.send(Some(label), |batch| {
            prepare_for(attempt, batch);
            push_explicit(batch, transaction, roles, (isolation, output), formats)?;
            if !commits {
                // A rollback skips deferred constraints, but a dry run must report their errors.
                let check = SqlStatement::plain("set constraints all immediate");
                batch.execute(TransactionStage::TransactionEnd, ANY_ROLE, &check, Sink::Discard)?;
            }
            Ok(())
        })?;
        // Sent as a separate batch, because PostgreSQL skips the rest of a batch after an error.
        let end = Some(self.end(commits)?);
        Ok(Running {
            reply,
            end,
            commits,
            is_read,
        })
    }

    /// Queues a transaction without `BEGIN`, and with it the reset of the session where functions or triggers of the
    /// project may have changed its settings.
    fn send_and_reset(
        &self,
        label: BatchLabel,
        transaction: &RequestTransaction<'_>,
        roles: &RoleSettings,
        compose: impl FnOnce(&mut Batch<'_>) -> Result<(), BatchError>,
    ) -> Result<Reply, RequestError> {
        let resets = transaction.calls_function || transaction.access == AccessMode::ReadWrite;
        // Deferred triggers run at the commit and must still find the request's settings; with such triggers the reset
        // follows as a separate transaction.
        let resets_inside = resets && !roles.has_deferred_triggers();
        let reply = self.send(Some(label), |batch| {
            compose(batch)?;
            if resets_inside {
                self.push_reset(batch)?;
            }
            Ok(())
        })?;
        if resets && !resets_inside {
            self.reset()?;
        }
        Ok(reply)
    }

    /// Adds the statements that undo changes of the session's settings.
    fn push_reset(&self, batch: &mut Batch<'_>) -> Result<(), BatchError> {
        self.last_reset.set(Instant::now());
        let statements = if self.has_right_defaults {
            &[RESET][..]
        } else {
            &[RESET, SESSION_DEFAULTS][..]
        };
        for text in statements {
            let stage = TransactionStage::TransactionEnd;
            batch.execute_text::<&str>(stage, ANY_ROLE, text, &[], Sink::Discard)?;
        }
        Ok(())
    }

    /// The formats to set for a transaction. A read that turns out to have run in a changed session is tried again, which a
    /// write cannot be, so a write that is queued behind others sets them itself.
    fn find_formats_to_set(&self, transaction: &RequestTransaction<'_>) -> &[(String, String)] {
        if transaction.access == AccessMode::ReadWrite && self.owns_session && self.connection.in_flight() > 0
        {
            &self.formats
        } else {
            &[]
        }
    }

    /// Queues a reset as a separate transaction. Its result is not awaited: if it fails, the connection is lost.
    fn reset(&self) -> Result<(), RequestError> {
        self.send(None, |batch| self.push_reset(batch)).map(drop)
    }

    /// Queues a reset when the connection is idle and was not reset for a while.
    fn reset_after_idling(&self) {
        if self.owns_session
            && self.connection.in_flight() == 0
            && self.last_reset.get().elapsed() > RESET_WHEN_IDLE
            && let Err(error) = self.reset()
        {
            tracing::debug!(%error, "a session cannot be reset");
        }
    }

    /// Queues a read whose rows this process writes as JSON, and returns false with it. Where that is not possible, the fallback statement is
    /// queued instead, and true returned. Whether it is may become known only when the rows come.
    pub(super) fn begin_json_read(
        &self,
        label: BatchLabel,
        transaction: &RequestTransaction<'_>,
        (listing, may_be_written): (&JsonRead<'_>, bool),
        roles: &RoleSettings,
        attempt: Attempt,
    ) -> Result<(Running, bool), RequestError> {
        if listing.only_texts || attempt == Attempt::Isolated || !self.can_write_json(transaction, roles) {
            return self.begin_fallback(label, transaction, listing, roles, attempt);
        }
        let formats = self.find_formats_to_set(transaction);
        self.reset_after_idling();
        let mut is_fallback = false;
        let compose = |batch: &mut Batch<'_>| {
            is_fallback = push_json_read(batch, transaction, (listing, may_be_written), roles, formats)?;
            Ok(())
        };
        let (reply, end) = if roles.has_citus() {
            (self.send(Some(label), compose)?, Some(self.end(true)?))
        } else {
            (self.send_and_reset(label, transaction, roles, compose)?, None)
        };
        let running = Running {
            reply,
            end,
            commits: true,
            is_read: transaction.access == AccessMode::ReadOnly,
        };
        Ok((running, is_fallback))
    }

    /// Whether this process can write the rows of a transaction as JSON: dates are written as the session writes them.
    fn can_write_json(&self, transaction: &RequestTransaction<'_>, roles: &RoleSettings) -> bool {
        let is_date_style = |name: &str| name.eq_ignore_ascii_case("datestyle");
        self.owns_session
            && self.has_iso_dates
            && transaction.end == TransactionEnd::Commit
            && isolation_for(transaction, roles) == Isolation::ReadCommitted
            && transaction.pre_request.is_none()
            && !roles
                .for_role(transaction.context.role)
                .iter()
                .any(|(name, _)| is_date_style(name))
            // Settings of a function (`db-hoisted-tx-settings`) and of the configuration.
            && !transaction
                .context
                .extra
                .iter()
                .any(|(name, _)| is_date_style(name))
    }

    fn begin_fallback(
        &self,
        label: BatchLabel,
        transaction: &RequestTransaction<'_>,
        listing: &JsonRead<'_>,
        roles: &RoleSettings,
        attempt: Attempt,
    ) -> Result<(Running, bool), RequestError> {
        let statement = (listing.fallback)();
        let transaction = RequestTransaction {
            statement: &statement,
            explain: Some(listing.after),
            ..*transaction
        };
        let output = Output::Json(listing.document);
        let running = self.begin_with_output(label, &transaction, roles, attempt, output)?;
        Ok((running, true))
    }

    /// Queues a transaction without its end. Nothing else may use the connection until [`Pipeline::finish_checked`].
    pub(super) fn begin_checked(
        &self,
        transaction: &RequestTransaction<'_>,
        roles: &RoleSettings,
        attempt: Attempt,
    ) -> Result<Reply, RequestError> {
        let isolation = isolation_for(transaction, roles);
        let formats = self.find_formats_to_set(transaction);
        self.send(None, |batch| {
            prepare_for(attempt, batch);
            push_explicit(batch, transaction, roles, (isolation, Output::Rows), formats)?;
            push_idle_limit(batch)
        })
    }

    /// Commits the transaction if `accept` returns true for its rows, else rolls it back.
    pub(super) async fn finish_checked(
        &self,
        reply: Reply,
        end: TransactionEnd,
        accept: &impl Fn(&[Row]) -> bool,
    ) -> Result<TransactionResult, Failure> {
        let outcome = check_refusal(wait_for(reply).await?).and_then(|finished| {
            if finished.is_out_of_memory {
                let is_committed = false;
                return Err(RequestError::OutOfMemory { is_committed }.into());
            }
            Ok(take_rows(finished))
        });
        let commit = end == TransactionEnd::Commit && outcome.as_ref().is_ok_and(|(rows, _)| accept(rows));
        let check = if end == TransactionEnd::Rollback && outcome.is_ok() {
            let check = SqlStatement::plain("set constraints all immediate");
            Some(self.send(None, |batch| {
                batch.execute(TransactionStage::TransactionEnd, ANY_ROLE, &check, Sink::Discard)
            })?)
        } else {
            None
        };
        let ended = self.end(commit)?;
        if let Some(check) = check {
            check_refusal(wait_for(check).await?)?;
        }
        check_refusal(wait_for(ended).await?)?;
        let (rows, explain) = outcome?;
        Ok(TransactionResult {
            rows,
            explain,
            is_committed: commit,
        })
    }

    /// Ends a transaction that has a `BEGIN`. A rollback also undoes what the transaction has set.
    fn end(&self, commit: bool) -> Result<Reply, RequestError> {
        let end = SqlStatement::plain(if commit { "commit" } else { "rollback" });
        self.send(None, |batch| {
            batch.execute(TransactionStage::TransactionEnd, ANY_ROLE, &end, Sink::Discard)?;
            if commit && self.owns_session {
                self.push_reset(batch)?;
            }
            Ok(())
        })
    }

    fn send(
        &self,
        label: Option<BatchLabel>,
        compose: impl FnOnce(&mut Batch<'_>) -> Result<(), BatchError>,
    ) -> Result<Reply, RequestError> {
        self.connection.send(label, compose).map_err(|error| {
            RequestError::Database(Box::new(DatabaseError {
                stage: TransactionStage::Statement,
                // program_limit_exceeded: the statement has more parameters or a longer text than the protocol allows.
                code: "54000".to_owned(),
                message: error.to_string(),
                detail: None,
                hint: None,
            }))
        })
    }
}
