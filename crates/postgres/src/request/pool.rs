//! The connections of one worker thread, and which of them runs a transaction.
//!
//! Each worker has a few pipelines that its own event loop drives, so that nothing crosses threads. A fast read takes the
//! pipeline with the fewest transactions in flight. A write takes an idle one; if there is none, it shares one and another
//! is opened for the writes after it. A slow statement, or one that has never been seen, runs alone: another pipeline is
//! opened for it up to a bound, beyond which requests wait. Some pipelines are reserved for fast reads, and some for
//! statements that have never been seen, so that neither slow statements nor writes can take all of them.

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lru::LruCache;
use selvedge_limits::{ClientId, Turn};
use selvedge_memory::MemoryBudget;

use super::client_turns::ClientTurns;
use super::failure::{may_repeat, show_failure, wait_within};
use super::pipeline::Pipeline;
use super::pipeline_needs::PipelineNeeds;
use super::pool_config::RequestPoolConfig;
use super::running::{Attempt, Failure};
use super::slow_query::SlowQueryTimer;
use super::statement_trace::{StatementTimer, with_application_name};
use super::time_limit::find_time_limit;
use super::wait_queues::{WaitQueue, WaitQueues};
use crate::wire::BatchLabel;
use crate::{Database, JsonRead, JsonReadResult, RequestError, RequestTransaction, Row, TransactionResult};

/// Most transactions in flight on one connection. More would only wait in PostgreSQL's socket instead of here.
const MAX_IN_FLIGHT: usize = 64;
/// How many transactions about the same table or function may run on the pipelines that are reserved for unknown
/// statements. One slow function, called in many ways, must not take all of them.
const RESERVED_PER_SUBJECT: usize = 2;
/// How many statements are remembered whose rows only PostgreSQL can write as JSON.
const REMEMBERED_FALLBACKS: NonZeroUsize = NonZeroUsize::new(4096).expect("not zero");
/// How often pipelines are checked for having been idle or open for too long.
const TIMES_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Runs request transactions. Belongs to one worker thread; cheap to clone.
#[derive(Clone)]
pub struct RequestPool {
    inner: Rc<Inner>,
}

struct Inner {
    database: Arc<Database>,
    config: RequestPoolConfig,
    /// Open pipelines, except those that a transaction uses exclusively.
    pipelines: RefCell<Vec<Rc<Pipeline>>>,
    /// Number of connections, including those being opened and those in exclusive use.
    connections: Cell<usize>,
    /// The subjects of the transactions for which pipelines are being opened.
    opening: RefCell<Vec<u64>>,
    /// Whether a pipeline is being opened in advance; one at a time.
    is_opening_in_advance: Cell<bool>,
    wait_queues: Rc<WaitQueues>,
    client_turns: ClientTurns,
    /// Hashes of statements whose rows only PostgreSQL can write as JSON; the least recently used is forgotten first.
    fallbacks: RefCell<LruCache<u64, ()>>,
    /// When pipelines were last removed because they were idle or old.
    times_checked: Cell<Instant>,
}

impl RequestPool {
    /// A pool without connections, which are opened when requests come. Must live on a thread that runs a `LocalSet`.
    pub fn new(database: Arc<Database>, config: RequestPoolConfig) -> Self {
        let wait_queues = Rc::new(WaitQueues::new(config.slow_statement));
        Self {
            inner: Rc::new(Inner {
                database,
                config,
                pipelines: RefCell::default(),
                connections: Cell::new(0),
                opening: RefCell::default(),
                is_opening_in_advance: Cell::new(false),
                wait_queues,
                client_turns: ClientTurns::default(),
                fallbacks: RefCell::new(LruCache::new(REMEMBERED_FALLBACKS)),
                times_checked: Cell::new(Instant::now()),
            }),
        }
    }

    /// Opens `connections_per_worker` connections, so that the first requests need not wait for them.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn warm_up(&self) -> Result<(), RequestError> {
        while self.inner.pipelines.borrow().len() < self.inner.config.connections_per_worker {
            let pipeline = self.inner.open(PipelineNeeds::SHARED).await?;
            self.inner.pipelines.borrow_mut().push(pipeline);
        }
        Ok(())
    }

    /// Runs a transaction: one network round trip.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub async fn run(&self, transaction: RequestTransaction<'_>) -> Result<TransactionResult, RequestError> {
        with_application_name(&transaction, async |transaction| {
            let mut attempt = Attempt::Shared;
            loop {
                let (pipeline, label) = self.inner.acquire(transaction, attempt).await?;
                let roles = self.inner.database.role_settings();
                let _running = self.inner.database.pool_metrics().count_running();
                let timer = SlowQueryTimer::start(self.inner.config.slow_query);
                let trace = StatementTimer::start();
                let limit = find_time_limit(transaction, &roles);
                let running = pipeline.begin(label, transaction, &roles, attempt)?;
                let result = pin!(running.result());
                let result = wait_within(limit, &pipeline, result).await;
                timer.finish(transaction);
                trace.finish(&transaction.statement.text);
                match result.map_err(|failure| failure.classify(pipeline.was_standby(), transaction.access)) {
                    Err(failure) if may_repeat(&failure, &pipeline, &mut attempt) => {}
                    result => return result.map_err(|failure| show_failure(failure, &roles)),
                }
            }
        })
        .await
    }

    /// Runs a transaction that reads rows and returns them as one JSON document, which this process writes where it can, and
    /// PostgreSQL otherwise. The transaction's statement must be the one that returns the rows in columns.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub async fn read_json(
        &self,
        transaction: &RequestTransaction<'_>,
        read: &JsonRead<'_>,
    ) -> Result<JsonReadResult, RequestError> {
        with_application_name(transaction, async |transaction| {
            let mut attempt = Attempt::Shared;
            loop {
                let (pipeline, label) = self.inner.acquire(transaction, attempt).await?;
                let roles = self.inner.database.role_settings();
                let _running = self.inner.database.pool_metrics().count_running();
                let timer = SlowQueryTimer::start(self.inner.config.slow_query);
                let trace = StatementTimer::start();
                let statement = label.statement;
                let may_be_written = !self.inner.needs_fallback(statement);
                let read = (read, may_be_written);
                let (running, is_fallback) =
                    pipeline.begin_json_read(label, transaction, read, &roles, attempt)?;
                let limit = find_time_limit(transaction, &roles);
                let result = pin!(running.json_result(is_fallback));
                let result = wait_within(limit, &pipeline, result).await;
                timer.finish(transaction);
                trace.finish(&transaction.statement.text);
                match result.map_err(|failure| failure.classify(pipeline.was_standby(), transaction.access)) {
                    Err(Failure::NeedsFallback) if may_be_written => self.inner.note_fallback(statement),
                    Err(failure) if may_repeat(&failure, &pipeline, &mut attempt) => {}
                    result => return result.map_err(|failure| show_failure(failure, &roles)),
                }
            }
        })
        .await
    }

    /// Runs a transaction that is committed only if `accept` returns true for its rows. Costs a second round trip, and a
    /// connection in exclusive use until then.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub async fn run_checked(
        &self,
        transaction: RequestTransaction<'_>,
        accept: impl Fn(&[Row]) -> bool,
    ) -> Result<TransactionResult, RequestError> {
        with_application_name(&transaction, async |transaction| {
            let mut attempt = Attempt::Shared;
            loop {
                let held = ExclusiveUse {
                    pipeline: Some(self.inner.acquire_exclusive().await?),
                    pool: self.inner.clone(),
                };
                let pipeline = held.pipeline.clone().expect("held until released");
                let roles = self.inner.database.role_settings();
                let _running = self.inner.database.pool_metrics().count_running();
                let timer = SlowQueryTimer::start(self.inner.config.slow_query);
                let trace = StatementTimer::start();
                let reply = pipeline.begin_checked(transaction, &roles, attempt)?;
                let limit = find_time_limit(transaction, &roles);
                let answer = pipeline.finish_checked(reply, transaction.end, &accept);
                let answer = wait_within(limit, &pipeline, pin!(answer)).await;
                timer.finish(transaction);
                trace.finish(&transaction.statement.text);
                held.release();
                match answer.map_err(|failure| failure.classify(pipeline.was_standby(), transaction.access)) {
                    Err(failure) if may_repeat(&failure, &pipeline, &mut attempt) => {}
                    result => return result.map_err(|failure| show_failure(failure, &roles)),
                }
            }
        })
        .await
    }

    /// Where large results are counted, and bodies of requests may be, too.
    pub fn memory(&self) -> &MemoryBudget {
        &self.inner.config.memory
    }

    /// Whether the disk of the database has no room for writes.
    pub fn is_disk_full(&self) -> bool {
        self.inner.database.disk().is_full()
    }

    /// Forgets all prepared statements. To be called when the schema has changed.
    pub fn forget_statements(&self) {
        self.inner.fallbacks.borrow_mut().clear();
        for pipeline in self.inner.pipelines.borrow().iter() {
            pipeline.forget_statements();
        }
    }
}

/// The next step of a request for a pipeline.
enum Choice {
    Take(Rc<Pipeline>),
    Open,
    Wait,
}

impl Inner {
    /// Whether only PostgreSQL can write a statement's rows as JSON, as far as that is known.
    fn needs_fallback(&self, statement: u64) -> bool {
        let mut fallbacks = self.fallbacks.borrow_mut();
        !fallbacks.is_empty() && fallbacks.get(&statement).is_some()
    }

    fn note_fallback(&self, statement: u64) {
        self.fallbacks.borrow_mut().put(statement, ());
    }

    /// Finds a pipeline for a transaction. The caller must use it before it awaits anything else.
    async fn acquire(
        self: &Rc<Self>,
        transaction: &RequestTransaction<'_>,
        attempt: Attempt,
    ) -> Result<(Rc<Pipeline>, BatchLabel), RequestError> {
        let assess_transaction = || {
            PipelineNeeds::assess_transaction(
                &mut self.wait_queues.latencies.borrow_mut(),
                transaction,
                attempt,
            )
        };
        let (statement, mut work) = assess_transaction();
        let now = Instant::now();
        let deadline = now + self.config.acquire_timeout;
        let turn = self.take_turn(transaction.client, work, now, deadline).await?;
        if turn.is_some() {
            // While it waited, it may have become known that the statement is slow.
            work = assess_transaction().1;
        }
        let mut has_waited = false;
        let pipeline = loop {
            match self.choose_pipeline(work) {
                Choice::Take(pipeline) => break pipeline,
                // Requests that already wait go first. Otherwise, while connections cannot be opened, a request whose attempt
                // failed would try again before them. Unknown statements may overtake each other, see `may_run_alone`.
                Choice::Open if has_waited || work.is_unknown() || self.queue_for(work).is_empty() => {
                    // Boxed, because it is larger than the rest of a request's future, and few requests need it.
                    let pipeline = Box::pin(self.open(work)).await?;
                    self.pipelines.borrow_mut().push(pipeline.clone());
                    break pipeline;
                }
                _ => self.wait_for_pipeline(work, deadline).await?,
            }
            has_waited = true;
            // Meanwhile it may have become known whether the statement is slow.
            work = assess_transaction().1;
        };
        if !work.runs_alone {
            // A shared pipeline may have room for the next request, too.
            self.wait_queues.shared.freed.notify_one();
        }
        Ok((pipeline, work.label(statement, turn)))
    }

    /// Waits until the client has few transactions in flight. `None` for work that no other client waits for.
    async fn take_turn(
        &self,
        client: Option<&ClientId>,
        work: PipelineNeeds,
        now: Instant,
        deadline: Instant,
    ) -> Result<Option<Box<Turn>>, RequestError> {
        // Work that runs alone counts as a sign of its client, too.
        let has_others = |client: &&ClientId| self.client_turns.has_others(**client, now);
        let Some(client) = client.filter(has_others).filter(|_| !work.runs_alone) else {
            return Ok(None);
        };
        // Boxed, as is the turn, because both would make the future of every request larger.
        let turn = tokio::time::timeout_at(deadline.into(), self.client_turns.wait(*client));
        match Box::pin(turn).await {
            Ok(turn) => Ok(Some(Box::new(turn))),
            Err(_) => {
                self.database.pool_metrics().count_timeout();
                Err(RequestError::Timeout)
            }
        }
    }

    fn choose_pipeline(self: &Rc<Self>, work: PipelineNeeds) -> Choice {
        let now = Instant::now();
        let mut pipelines = self.pipelines.borrow_mut();
        self.discard_unusable(&mut pipelines, now);
        if work.runs_alone && !self.may_run_alone(&pipelines, work) {
            return Choice::Wait;
        }
        let is_below_minimum = pipelines.len() < self.config.connections_per_worker;
        let may_open = self.connections.get() < self.config.max_connections_per_worker;
        let best = self.find_best_pipeline(&pipelines, work, may_open, now);
        match best {
            Some(pipeline) if pipeline.in_flight() == 0 => Choice::Take(pipeline.clone()),
            Some(pipeline) if !work.runs_alone && !is_below_minimum => {
                if work.writes || pipeline.is_writing() || pipeline.is_expired(now) {
                    self.open_in_advance();
                }
                Choice::Take(pipeline.clone())
            }
            _ if may_open => Choice::Open,
            Some(pipeline) if !work.runs_alone => Choice::Take(pipeline.clone()),
            _ => Choice::Wait,
        }
    }

    /// Returns the pipeline with the lowest sort key among those that are idle or may take the work behind other transactions;
    /// `None` if all of them are too busy.
    fn find_best_pipeline<'a>(
        &self,
        pipelines: &'a [Rc<Pipeline>],
        work: PipelineNeeds,
        may_open: bool,
        now: Instant,
    ) -> Option<&'a Rc<Pipeline>> {
        // With Citus a statement may wait for a worker that does not respond, and requests queued behind it would wait, too.
        let may_queue = !self.database.role_settings().has_citus();
        // Nothing is queued behind a transaction that began at this time or before; `None` is before all times. Comparing times
        // is cheaper than computing how long each pipeline has been busy.
        let too_busy_since = now.checked_sub(self.config.max_wait_behind);
        // The kept pipelines have the statements of reads prepared, so slow statements avoid them while others can be opened.
        let first = if work.is_slow && may_open {
            self.config.connections_per_worker
        } else {
            0
        };
        pipelines
            .iter()
            .enumerate()
            .skip(first)
            .filter(|(_, pipeline)| match pipeline.in_flight() {
                0 => true,
                queued => {
                    may_queue
                        && queued < MAX_IN_FLIGHT
                        && !pipeline.is_blocked()
                        && pipeline.busy_since() > too_busy_since
                }
            })
            .min_by_key(|(index, pipeline)| {
                (
                    pipeline.is_expired(now),
                    self.preference_key(work, *index, pipeline),
                )
            })
            .map(|(_, pipeline)| pipeline)
    }

    /// Sort key of a pipeline: the one with the lowest key is taken.
    ///
    /// A commit waits for the disk, and PostgreSQL flushes once for all connections that wait (group commit), so writes are
    /// spread over idle pipelines. Reads wait for nothing, and the fewer connections they use, the more of them share a
    /// system call.
    fn preference_key(&self, work: PipelineNeeds, index: usize, pipeline: &Pipeline) -> (bool, usize, usize) {
        let kept = self.config.connections_per_worker;
        let queued = pipeline.in_flight();
        if work.writes || work.runs_alone {
            // First those that reads do not use, always in the same order, so that the last ones become idle and are closed.
            let rank = index.checked_sub(kept).unwrap_or(usize::MAX - index);
            (queued > 0, queued, rank)
        } else {
            (pipeline.is_writing(), usize::from(index >= kept), queued)
        }
    }

    /// Opens one more pipeline in the background, because commits on the same one wait for the disk one after the other.
    fn open_in_advance(self: &Rc<Self>) {
        let most = self.config.max_connections_per_worker;
        // A quarter stays for statements that run alone.
        let for_writes = most - (most / 4).max(1).min(most);
        if self.is_opening_in_advance.get() || self.connections.get() >= for_writes {
            return;
        }
        self.is_opening_in_advance.set(true);
        let pool = Rc::clone(self);
        tokio::task::spawn_local(async move {
            let opened = pool.open(PipelineNeeds::SHARED).await;
            pool.is_opening_in_advance.set(false);
            match opened {
                Ok(pipeline) => {
                    pool.pipelines.borrow_mut().push(pipeline);
                    pool.wait_queues.notify();
                }
                Err(error) => tracing::debug!(%error, "no further database connection"),
            }
        });
    }

    /// Whether one more statement may run alone. Half of the kept pipelines, at least one, stay for those that share. A
    /// quarter of the others stays for unknown statements, so that a new read does not wait for slow ones to end.
    fn may_run_alone(&self, pipelines: &[Rc<Pipeline>], work: PipelineNeeds) -> bool {
        let most = self.config.max_connections_per_worker;
        let for_shared = (self.config.connections_per_worker / 2)
            .max(1)
            .min(most.saturating_sub(1));
        let for_alone = most - for_shared;
        let for_unknown = for_alone.div_ceil(4).min(for_alone.saturating_sub(1));
        let shared = pipelines.iter().filter(|pipeline| !pipeline.is_blocked()).count();
        // `connections` also counts pipelines that are being opened or are in exclusive use.
        let alone = self.connections.get().saturating_sub(shared);
        if alone < for_alone - for_unknown {
            return true;
        }
        let running = pipelines
            .iter()
            .filter_map(|pipeline| pipeline.blocking_subject());
        let of_subject = || {
            let opening = self.opening.borrow();
            running
                .chain(opening.iter().copied())
                .filter(|subject| *subject == work.subject)
                .count()
        };
        alone < for_alone && !work.is_slow && of_subject() < RESERVED_PER_SUBJECT
    }

    /// Takes a connection out of the shared pipelines for exclusive use, or opens one.
    async fn acquire_exclusive(&self) -> Result<Rc<Pipeline>, RequestError> {
        let deadline = Instant::now() + self.config.acquire_timeout;
        loop {
            let may_open = {
                let mut pipelines = self.pipelines.borrow_mut();
                self.discard_unusable(&mut pipelines, Instant::now());
                let may_run_alone = self.may_run_alone(&pipelines, PipelineNeeds::EXCLUSIVE);
                let idle = pipelines.iter().rposition(|pipeline| pipeline.in_flight() == 0);
                if let Some(idle) = idle.filter(|_| may_run_alone) {
                    return Ok(pipelines.remove(idle));
                }
                may_run_alone && self.connections.get() < self.config.max_connections_per_worker
            };
            if may_open {
                return Box::pin(self.open(PipelineNeeds::EXCLUSIVE)).await;
            }
            self.wait_for_pipeline(PipelineNeeds::EXCLUSIVE, deadline).await?;
        }
    }

    fn queue_for(&self, work: PipelineNeeds) -> &WaitQueue {
        if !work.runs_alone {
            &self.wait_queues.shared
        } else if work.is_slow {
            &self.wait_queues.slow
        } else {
            &self.wait_queues.unknown
        }
    }

    /// Waits until a pipeline may have become free.
    async fn wait_for_pipeline(&self, work: PipelineNeeds, deadline: Instant) -> Result<(), RequestError> {
        let _waiting = self.database.pool_metrics().count_waiting();
        let queue = self.queue_for(work);
        let _place = queue.join();
        tokio::time::timeout_at(deadline.into(), queue.freed.notified())
            .await
            .map_err(|_| {
                self.database.pool_metrics().count_timeout();
                RequestError::Timeout
            })
    }

    async fn open(&self, work: PipelineNeeds) -> Result<Rc<Pipeline>, RequestError> {
        // Counted before the connection exists, so that concurrent requests do not open more than allowed.
        self.connections.set(self.connections.get() + 1);
        self.opening.borrow_mut().push(work.subject);
        let opening = Opening {
            pool: self,
            subject: work.subject,
            opened: Cell::new(false),
        };
        let wait_queues = Rc::clone(&self.wait_queues);
        let on_finished = Box::new(move |ran: Option<(BatchLabel, Duration)>| {
            if let Some((label, duration)) = ran {
                let mut latencies = wait_queues.latencies.borrow_mut();
                latencies.record_duration(label.statement, duration);
                if label.blocks {
                    latencies.record_duration(label.subject, duration);
                }
            }
            wait_queues.notify();
        });
        let pipeline = Pipeline::open(&self.database, &self.config, on_finished).await?;
        opening.opened.set(true);
        Ok(pipeline)
    }

    /// Removes the pipelines that cannot be used, and at most once per second those that are idle or old, because comparing
    /// the times of each costs more than the rest of the choice.
    fn discard_unusable(&self, pipelines: &mut Vec<Rc<Pipeline>>, now: Instant) {
        let interval = TIMES_CHECK_INTERVAL
            .min(self.config.idle_timeout)
            .min(self.config.max_lifetime);
        let checks_times = now.saturating_duration_since(self.times_checked.get()) >= interval;
        if !checks_times && pipelines.iter().all(|pipeline| pipeline.is_usable()) {
            return;
        }
        self.times_checked.set(now);
        let keep = self.config.connections_per_worker;
        let mut kept = 0;
        pipelines.retain(|pipeline| {
            let is_spare = kept >= keep
                && pipeline.in_flight() == 0
                && pipeline.idle_for(now) > self.config.idle_timeout;
            let is_expired = pipeline.in_flight() == 0 && pipeline.is_expired(now);
            let stays = pipeline.is_usable() && !is_spare && !is_expired;
            kept += usize::from(stays);
            if !stays {
                self.count_closed();
            }
            stays
        });
    }

    fn count_closed(&self) {
        self.connections.set(self.connections.get().saturating_sub(1));
        self.wait_queues.notify();
    }
}

/// Corrects the number of connections when opening one fails or is given up.
struct Opening<'a> {
    pool: &'a Inner,
    subject: u64,
    opened: Cell<bool>,
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        let mut opening = self.pool.opening.borrow_mut();
        if let Some(index) = opening.iter().position(|subject| *subject == self.subject) {
            opening.swap_remove(index);
        }
        drop(opening);
        if !self.opened.get() {
            self.pool.count_closed();
        }
    }
}

/// A connection in exclusive use by one transaction.
struct ExclusiveUse {
    pipeline: Option<Rc<Pipeline>>,
    pool: Rc<Inner>,
}

impl ExclusiveUse {
    fn release(mut self) {
        if let Some(pipeline) = self.pipeline.take().filter(|pipeline| pipeline.is_usable()) {
            self.pool.pipelines.borrow_mut().push(pipeline);
            self.pool.wait_queues.notify();
        } else {
            self.pool.count_closed();
        }
    }
}

impl Drop for ExclusiveUse {
    fn drop(&mut self) {
        // Dropped before its end (the client hung up): the connection is closed, and PostgreSQL rolls back.
        if self.pipeline.take().is_some() {
            self.pool.count_closed();
        }
    }
}
