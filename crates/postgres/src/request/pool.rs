//! The connections of one worker thread.
//!
//! A few lanes, driven by the worker's own event loop, so that nothing crosses threads. A request takes the lane with the
//! fewest requests in flight. It never queues behind a statement that has been running for a while: then another lane is
//! opened, up to a bound, and behind the bound requests wait.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio_postgres::Row;

use super::lane::Lane;
use crate::{Answer, Database, RequestError, RequestTransaction};

/// How many connections a worker holds, and for how long requests wait.
#[derive(Debug, Clone)]
pub struct RequestPoolConfig {
    /// Connections that each worker keeps open. Default 4.
    pub connections_per_worker: usize,
    /// Connections that each worker may open when statements run long. Default 16.
    pub max_connections_per_worker: usize,
    /// A request does not queue behind a statement that is older than this. Default 10 ms.
    pub patience: Duration,
    /// How long a request waits for a connection. Default 10 s.
    pub acquire_timeout: Duration,
    /// Prepared statements per connection. Default 256.
    pub cached_statements: usize,
    /// An additional connection is closed after this time without work. Default 30 s.
    pub idle_timeout: Duration,
}

/// Requests on one connection that wait for their answers. More would only wait longer in PostgreSQL's socket.
const MAX_IN_FLIGHT: usize = 64;

impl Default for RequestPoolConfig {
    fn default() -> Self {
        Self {
            connections_per_worker: 4,
            max_connections_per_worker: 16,
            patience: Duration::from_millis(10),
            acquire_timeout: Duration::from_secs(10),
            cached_statements: 256,
            idle_timeout: Duration::from_secs(30),
        }
    }
}

/// Runs request transactions. Belongs to one worker thread; cheap to clone.
#[derive(Clone)]
pub struct RequestPool {
    inner: Rc<Inner>,
}

struct Inner {
    database: Arc<Database>,
    config: RequestPoolConfig,
    lanes: RefCell<Vec<Rc<Lane>>>,
    /// Lanes of their own for transactions that decide about their end; not in `lanes` while in use.
    exclusive: RefCell<Vec<Rc<Lane>>>,
    /// Connections, those included that are being opened.
    connections: Cell<usize>,
    freed: Notify,
}

impl RequestPool {
    /// A pool without connections; they are opened when requests come. Must live on a thread that runs a `LocalSet`.
    pub fn new(database: Arc<Database>, config: RequestPoolConfig) -> Self {
        Self {
            inner: Rc::new(Inner {
                database,
                config,
                lanes: RefCell::default(),
                exclusive: RefCell::default(),
                connections: Cell::new(0),
                freed: Notify::new(),
            }),
        }
    }

    /// Opens the connections that are kept, so that the first requests need not.
    pub async fn warm_up(&self) -> Result<(), RequestError> {
        while self.inner.lanes.borrow().len() < self.inner.config.connections_per_worker {
            let lane = self.inner.open().await?;
            self.inner.lanes.borrow_mut().push(lane);
        }
        Ok(())
    }

    /// Runs a transaction: one network round trip.
    ///
    /// # Errors
    /// PostgreSQL's refusal, or that it could not be asked.
    pub async fn run(&self, transaction: RequestTransaction<'_>) -> Result<Answer, RequestError> {
        let lane = self.inner.acquire().await?;
        let ticket = Ticket::new(lane, self.inner.clone());
        let roles = self.inner.database.role_settings();
        let _running = self.inner.database.pool_use().run();
        let answer = ticket.lane.run(transaction, &roles).await;
        ticket.answered();
        answer
    }

    /// Runs a transaction that is committed only when `accept` likes its rows. Costs a second round trip, and a
    /// connection for itself until then.
    ///
    /// # Errors
    /// PostgreSQL's refusal, or that it could not be asked.
    pub async fn run_checked(
        &self,
        transaction: RequestTransaction<'_>,
        accept: impl FnOnce(&[Row]) -> bool,
    ) -> Result<Answer, RequestError> {
        let held = Held {
            lane: Some(self.inner.acquire_exclusive().await?),
            pool: self.inner.clone(),
        };
        let roles = self.inner.database.role_settings();
        let _running = self.inner.database.pool_use().run();
        let lane = held.lane.clone().expect("held until released");
        let answer = lane.run_checked(transaction, &roles, accept).await;
        held.release();
        answer
    }

    /// Forgets all prepared statements, after the schema has changed.
    pub fn forget_statements(&self) {
        for lane in self
            .inner
            .lanes
            .borrow()
            .iter()
            .chain(self.inner.exclusive.borrow().iter())
        {
            lane.forget_statements();
        }
    }
}

/// What a request can do next.
enum Choice {
    Take(Rc<Lane>),
    Open,
    Wait,
}

impl Inner {
    async fn acquire(self: &Rc<Self>) -> Result<Rc<Lane>, RequestError> {
        let deadline = Instant::now() + self.config.acquire_timeout;
        loop {
            match self.choose() {
                Choice::Take(lane) => return Ok(lane),
                Choice::Open => {
                    let lane = self.open().await?;
                    self.lanes.borrow_mut().push(lane.clone());
                    self.freed.notify_one();
                    return Ok(lane);
                }
                Choice::Wait => self.wait(deadline).await?,
            }
        }
    }

    fn choose(&self) -> Choice {
        let now = Instant::now();
        let mut lanes = self.lanes.borrow_mut();
        self.discard_unusable(&mut lanes, now);
        let few = lanes.len() < self.config.connections_per_worker;
        let patience = self.config.patience;
        let best = lanes
            .iter()
            .filter(|lane| match lane.in_flight() {
                0 => true,
                queued => queued < MAX_IN_FLIGHT && lane.oldest_age(now) < patience,
            })
            .min_by_key(|lane| lane.in_flight());
        match best {
            Some(lane) if lane.in_flight() == 0 || !few => Choice::Take(lane.clone()),
            _ if self.connections.get() < self.config.max_connections_per_worker => Choice::Open,
            Some(lane) => Choice::Take(lane.clone()),
            None => Choice::Wait,
        }
    }

    async fn acquire_exclusive(self: &Rc<Self>) -> Result<Rc<Lane>, RequestError> {
        let deadline = Instant::now() + self.config.acquire_timeout;
        loop {
            let idle = self.exclusive.borrow_mut().pop();
            match idle {
                Some(lane) if lane.is_usable() => return Ok(lane),
                Some(_) => self.closed(),
                None if self.connections.get() < self.config.max_connections_per_worker => {
                    return self.open().await;
                }
                None => self.wait(deadline).await?,
            }
        }
    }

    async fn wait(&self, deadline: Instant) -> Result<(), RequestError> {
        let _waiting = self.database.pool_use().wait();
        tokio::time::timeout_at(deadline.into(), self.freed.notified())
            .await
            .map_err(|_| {
                self.database.pool_use().timed_out();
                RequestError::Timeout
            })
    }

    async fn open(&self) -> Result<Rc<Lane>, RequestError> {
        // Counted before it exists, so that many requests at once do not open many more than allowed.
        self.connections.set(self.connections.get() + 1);
        let opening = Opening {
            pool: self,
            opened: Cell::new(false),
        };
        let lane = Lane::open(&self.database, self.config.cached_statements).await?;
        opening.opened.set(true);
        Ok(lane)
    }

    fn discard_unusable(&self, lanes: &mut Vec<Rc<Lane>>, now: Instant) {
        let keep = self.config.connections_per_worker;
        let mut kept = 0;
        lanes.retain(|lane| {
            let spare =
                kept >= keep && lane.in_flight() == 0 && lane.idle_for(now) > self.config.idle_timeout;
            let stays = lane.is_usable() && !spare;
            kept += usize::from(stays);
            if !stays {
                self.closed();
            }
            stays
        });
    }

    fn closed(&self) {
        self.connections.set(self.connections.get().saturating_sub(1));
        self.freed.notify_one();
    }
}

/// Takes the count back when opening fails or is given up.
struct Opening<'a> {
    pool: &'a Inner,
    opened: Cell<bool>,
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        if !self.opened.get() {
            self.pool.closed();
        }
    }
}

/// A request's place in a lane, from queueing to the last answer.
struct Ticket {
    lane: Rc<Lane>,
    pool: Rc<Inner>,
    answered: Cell<bool>,
}

impl Ticket {
    fn new(lane: Rc<Lane>, pool: Rc<Inner>) -> Self {
        lane.note_queued();
        Self {
            lane,
            pool,
            answered: Cell::new(false),
        }
    }

    fn answered(self) {
        self.answered.set(true);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.answered.get() {
            self.lane.note_answered();
            self.pool.freed.notify_one();
            return;
        }
        // The client hung up. Its statement runs on, so the place in the lane is taken until the answers are in.
        let (lane, pool) = (self.lane.clone(), self.pool.clone());
        tokio::task::spawn_local(async move {
            lane.drained().await;
            lane.note_answered();
            pool.freed.notify_one();
        });
    }
}

/// A connection that one transaction has for itself.
struct Held {
    lane: Option<Rc<Lane>>,
    pool: Rc<Inner>,
}

impl Held {
    fn release(mut self) {
        if let Some(lane) = self.lane.take().filter(|lane| lane.is_usable()) {
            self.pool.exclusive.borrow_mut().push(lane);
            self.pool.freed.notify_one();
        } else {
            self.pool.closed();
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Given up in the middle: the connection is closed with its client, and PostgreSQL rolls back.
        if self.lane.take().is_some() {
            self.pool.closed();
        }
    }
}
