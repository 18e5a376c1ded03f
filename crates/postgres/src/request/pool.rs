//! The connections of one worker thread.
//!
//! A few lanes, driven by the worker's own event loop, so that nothing crosses threads. A fast read takes the lane
//! with the fewest in flight. A write takes one on which nothing is in flight, and if there is none, another is opened
//! for those after it. A slow statement, or one that has never been seen, gets a lane for itself: another is opened, up
//! to a bound, and behind the bound requests wait. Slow ones cannot take them all, nor can writes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::lane::{Failure, Lane};
use super::pace::{Pace, Speed};
use crate::wire::Label;
use crate::{Access, Answer, Database, End, Listed, Listing, RequestError, RequestTransaction, Row};

/// How many connections a worker holds, and for how long requests wait.
#[derive(Debug, Clone)]
pub struct RequestPoolConfig {
    /// Connections that each worker keeps open. Default 2: the fewer there are, the more requests share a system call.
    pub connections_per_worker: usize,
    /// Connections that each worker may open when statements run long. Default 16.
    pub max_connections_per_worker: usize,
    /// A request does not queue behind a statement that has run for longer than this. Default 10 ms.
    pub patience: Duration,
    /// How long a request waits for a connection. Default 10 s.
    pub acquire_timeout: Duration,
    /// Prepared statements per connection. Default 256. 0 prepares none and keeps nothing in sessions, which may be those
    /// of a transaction pooler.
    pub cached_statements: usize,
    /// An additional connection is closed after this time without work. Default 30 s.
    pub idle_timeout: Duration,
    /// Any connection is closed when it has no work after this time. Default 30 min.
    pub max_lifetime: Duration,
}

/// Requests on one connection that wait for their answers. More would only wait longer in PostgreSQL's socket.
const MAX_IN_FLIGHT: usize = 64;
/// How often a transaction is tried again because its prepared statement was out of date.
const STALE_RETRIES: usize = 3;

impl Default for RequestPoolConfig {
    fn default() -> Self {
        Self {
            connections_per_worker: 2,
            max_connections_per_worker: 16,
            patience: Duration::from_millis(10),
            acquire_timeout: Duration::from_secs(10),
            cached_statements: 256,
            idle_timeout: Duration::from_secs(30),
            max_lifetime: Duration::from_secs(30 * 60),
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
    /// Open lanes, without those that a transaction has for itself.
    lanes: RefCell<Vec<Rc<Lane>>>,
    /// Connections, those included that are being opened and those not in `lanes`.
    connections: Cell<usize>,
    /// Whether a lane is being opened that nobody waits for.
    growing: Cell<bool>,
    lookout: Rc<Lookout>,
}

/// What lanes report to.
#[derive(Default)]
struct Lookout {
    pace: RefCell<Pace>,
    /// Requests that wait for a lane and may share it.
    shared: Queue,
    /// Requests that wait for a lane for themselves.
    whole: Queue,
}

impl Lookout {
    fn notify(&self) {
        self.shared.freed.notify_one();
        self.whole.freed.notify_one();
    }

    fn queue(&self, work: Work) -> &Queue {
        if work.alone { &self.whole } else { &self.shared }
    }
}

/// Requests that wait for a lane.
#[derive(Default)]
struct Queue {
    /// Wakes the first of them.
    freed: Notify,
    length: Cell<usize>,
}

impl RequestPool {
    /// A pool without connections; they are opened when requests come. Must live on a thread that runs a `LocalSet`.
    pub fn new(database: Arc<Database>, config: RequestPoolConfig) -> Self {
        Self {
            inner: Rc::new(Inner {
                database,
                config,
                lanes: RefCell::default(),
                connections: Cell::new(0),
                growing: Cell::new(false),
                lookout: Rc::default(),
            }),
        }
    }

    /// Opens the connections that are kept, so that the first requests need not.
    ///
    /// # Errors
    /// When the database cannot be reached.
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
        let mut tries = 0..STALE_RETRIES;
        loop {
            let (lane, label) = self.inner.acquire(&transaction).await?;
            let roles = self.inner.database.role_settings();
            let _running = self.inner.database.pool_use().run();
            match lane.begin(label, &transaction, &roles)?.answer().await {
                Err(Failure::Stale) if tries.next().is_some() => lane.forget_statements(),
                answer => return answer.map_err(Failure::into_error),
            }
        }
    }

    /// Runs a transaction that reads rows, and makes them one JSON document: here where we know how, else in PostgreSQL.
    /// The transaction's statement is the one that returns the rows in columns.
    ///
    /// # Errors
    /// PostgreSQL's refusal, or that it could not be asked.
    pub async fn list(
        &self,
        transaction: RequestTransaction<'_>,
        listing: Listing<'_>,
    ) -> Result<Listed, RequestError> {
        let mut tries = 0..STALE_RETRIES;
        loop {
            let (lane, label) = self.inner.acquire(&transaction).await?;
            let roles = self.inner.database.role_settings();
            let _running = self.inner.database.pool_use().run();
            let (running, is_json) = lane.begin_list(label, &transaction, &listing, &roles)?;
            match running.listed(is_json).await {
                Err(Failure::Stale) if tries.next().is_some() => lane.forget_statements(),
                listed => return listed.map_err(Failure::into_error),
            }
        }
    }

    /// Runs a transaction that is committed only when `accept` likes its rows. Costs a second round trip, and a
    /// connection for itself until then.
    ///
    /// # Errors
    /// PostgreSQL's refusal, or that it could not be asked.
    pub async fn run_checked(
        &self,
        transaction: RequestTransaction<'_>,
        accept: impl Fn(&[Row]) -> bool,
    ) -> Result<Answer, RequestError> {
        let mut tries = 0..STALE_RETRIES;
        loop {
            let held = Held {
                lane: Some(self.inner.acquire_whole().await?),
                pool: self.inner.clone(),
            };
            let lane = held.lane.clone().expect("held until released");
            let roles = self.inner.database.role_settings();
            let _running = self.inner.database.pool_use().run();
            let reply = lane.begin_checked(&transaction, &roles)?;
            let answer = lane.finish_checked(reply, transaction.end, &accept).await;
            held.release();
            match answer {
                Err(Failure::Stale) if tries.next().is_some() => lane.forget_statements(),
                answer => return answer.map_err(Failure::into_error),
            }
        }
    }

    /// Forgets all prepared statements, after the schema has changed.
    pub fn forget_statements(&self) {
        for lane in self.inner.lanes.borrow().iter() {
            lane.forget_statements();
        }
    }
}

/// What a transaction asks of its lane.
#[derive(Debug, Clone, Copy)]
struct Work {
    /// Nobody should have to wait behind it.
    alone: bool,
    /// It is known to take long, so that opening a connection for it does not matter.
    slow: bool,
    /// Its end may wait for the disk.
    writes: bool,
}

impl Work {
    /// A transaction whose end is decided later.
    const WHOLE: Self = Self {
        alone: true,
        slow: false,
        writes: true,
    };
}

/// What a request can do next.
enum Choice {
    Take(Rc<Lane>),
    Open,
    Wait,
}

impl Inner {
    /// A lane for a transaction, to be used at once.
    async fn acquire(
        self: &Rc<Self>,
        transaction: &RequestTransaction<'_>,
    ) -> Result<(Rc<Lane>, Label), RequestError> {
        let (statement, speed) = self
            .lookout
            .pace
            .borrow_mut()
            .look_up(&transaction.statement.text);
        let work = Work {
            alone: speed != Speed::Fast,
            slow: speed == Speed::Slow,
            writes: transaction.access == Access::ReadWrite && transaction.end == End::Commit,
        };
        let deadline = Instant::now() + self.config.acquire_timeout;
        let mut has_waited = false;
        let lane = loop {
            match self.choose(work) {
                Choice::Take(lane) => break lane,
                // Whoever waits already comes first: while connections fail, the one that failed would ask again at once.
                Choice::Open if has_waited || self.lookout.queue(work).length.get() == 0 => {
                    let lane = self.open().await?;
                    self.lanes.borrow_mut().push(lane.clone());
                    break lane;
                }
                _ => self.wait(work, deadline).await?,
            }
            has_waited = true;
        };
        if !work.alone {
            // There may be room for the next one beside this.
            self.lookout.shared.freed.notify_one();
        }
        let label = Label {
            statement,
            blocks: work.alone,
            writes: work.writes,
        };
        Ok((lane, label))
    }

    fn choose(self: &Rc<Self>, work: Work) -> Choice {
        let now = Instant::now();
        let mut lanes = self.lanes.borrow_mut();
        self.discard_unusable(&mut lanes, now);
        if work.alone && !self.may_be_alone(&lanes) {
            return Choice::Wait;
        }
        let few = lanes.len() < self.config.connections_per_worker;
        let patience = self.config.patience;
        let may_open = self.connections.get() < self.config.max_connections_per_worker;
        // Reads have their statements prepared on the lanes that are kept: slow ones leave those alone while they can.
        let first = if work.slow && may_open {
            self.config.connections_per_worker
        } else {
            0
        };
        let best = lanes
            .iter()
            .enumerate()
            .skip(first)
            .filter(|(_, lane)| match lane.in_flight() {
                0 => true,
                queued => queued < MAX_IN_FLIGHT && !lane.is_blocked() && lane.busy_for(now) < patience,
            })
            .min_by_key(|(index, lane)| (self.is_old(lane, now), self.preference(work, *index, lane)))
            .map(|(_, lane)| lane);
        match best {
            Some(lane) if lane.in_flight() == 0 => Choice::Take(lane.clone()),
            Some(lane) if !work.alone && !few => {
                if work.writes || lane.is_writing() || self.is_old(lane, now) {
                    self.grow();
                }
                Choice::Take(lane.clone())
            }
            _ if may_open => Choice::Open,
            Some(lane) if !work.alone => Choice::Take(lane.clone()),
            _ => Choice::Wait,
        }
    }

    /// Which lane is best: the one with the lowest of these.
    ///
    /// A commit waits for the disk, and PostgreSQL writes for all connections at once that wait: commits want lanes of
    /// their own. Reads wait for nothing: the fewer connections they are on, the more of them share a system call.
    fn preference(&self, work: Work, index: usize, lane: &Lane) -> (bool, usize, usize) {
        let kept = self.config.connections_per_worker;
        let queued = lane.in_flight();
        if work.writes || work.alone {
            // First those that reads do not use, in an order that lets the last ones become idle.
            let rank = index.checked_sub(kept).unwrap_or(usize::MAX - index);
            (queued > 0, queued, rank)
        } else {
            (lane.is_writing(), usize::from(index >= kept), queued)
        }
    }

    fn is_old(&self, lane: &Lane, now: Instant) -> bool {
        lane.age(now) > self.config.max_lifetime
    }

    /// Opens one more lane while nobody waits for it: commits that follow each other on one would wait for the disk one
    /// by one.
    fn grow(self: &Rc<Self>) {
        let most = self.config.max_connections_per_worker;
        // Some stay for statements that need one for themselves.
        let for_writes = most - (most / 4).max(1).min(most);
        if self.growing.get() || self.connections.get() >= for_writes {
            return;
        }
        self.growing.set(true);
        let pool = Rc::clone(self);
        tokio::task::spawn_local(async move {
            let opened = pool.open().await;
            pool.growing.set(false);
            match opened {
                Ok(lane) => {
                    pool.lanes.borrow_mut().push(lane);
                    pool.lookout.notify();
                }
                Err(error) => tracing::debug!(%error, "no further database connection"),
            }
        });
    }

    /// Whether one more statement may have a lane for itself: some lanes stay for those that share.
    fn may_be_alone(&self, lanes: &[Rc<Lane>]) -> bool {
        let most = self.config.max_connections_per_worker;
        let reserved = (self.config.connections_per_worker / 2)
            .max(1)
            .min(most.saturating_sub(1));
        let shared = lanes.iter().filter(|lane| !lane.is_blocked()).count();
        // Those count too that are being opened, or are out of `lanes` for as long as a transaction has them.
        self.connections.get().saturating_sub(shared) < most - reserved
    }

    /// A lane that nobody else uses, taken out of the others.
    async fn acquire_whole(&self) -> Result<Rc<Lane>, RequestError> {
        let deadline = Instant::now() + self.config.acquire_timeout;
        loop {
            let may_open = {
                let mut lanes = self.lanes.borrow_mut();
                self.discard_unusable(&mut lanes, Instant::now());
                let may_be_alone = self.may_be_alone(&lanes);
                let idle = lanes.iter().rposition(|lane| lane.in_flight() == 0);
                if let Some(idle) = idle.filter(|_| may_be_alone) {
                    return Ok(lanes.remove(idle));
                }
                may_be_alone && self.connections.get() < self.config.max_connections_per_worker
            };
            if may_open {
                return self.open().await;
            }
            self.wait(Work::WHOLE, deadline).await?;
        }
    }

    async fn wait(&self, work: Work, deadline: Instant) -> Result<(), RequestError> {
        let _waiting = self.database.pool_use().wait();
        let queue = self.lookout.queue(work);
        let _queued = Counted::up(&queue.length);
        tokio::time::timeout_at(deadline.into(), queue.freed.notified())
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
        let lookout = Rc::clone(&self.lookout);
        let on_answer = Box::new(move |ran: Option<(u64, Duration)>| {
            if let Some((statement, duration)) = ran {
                lookout.pace.borrow_mut().record(statement, duration);
            }
            lookout.notify();
        });
        let lane = Lane::open(&self.database, self.config.cached_statements, on_answer).await?;
        opening.opened.set(true);
        Ok(lane)
    }

    fn discard_unusable(&self, lanes: &mut Vec<Rc<Lane>>, now: Instant) {
        let keep = self.config.connections_per_worker;
        let mut kept = 0;
        lanes.retain(|lane| {
            let spare =
                kept >= keep && lane.in_flight() == 0 && lane.idle_for(now) > self.config.idle_timeout;
            let ends = lane.in_flight() == 0 && self.is_old(lane, now);
            let stays = lane.is_usable() && !spare && !ends;
            kept += usize::from(stays);
            if !stays {
                self.closed();
            }
            stays
        });
    }

    fn closed(&self) {
        self.connections.set(self.connections.get().saturating_sub(1));
        self.lookout.notify();
    }
}

/// One more, for as long as it lives.
struct Counted<'a>(&'a Cell<usize>);

impl<'a> Counted<'a> {
    fn up(count: &'a Cell<usize>) -> Self {
        count.set(count.get() + 1);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
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

/// A connection that one transaction has for itself.
struct Held {
    lane: Option<Rc<Lane>>,
    pool: Rc<Inner>,
}

impl Held {
    fn release(mut self) {
        if let Some(lane) = self.lane.take().filter(|lane| lane.is_usable()) {
            self.pool.lanes.borrow_mut().push(lane);
            self.pool.lookout.notify();
        } else {
            self.pool.closed();
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Given up in the middle: the connection is closed with its lane, and PostgreSQL rolls back.
        if self.lane.take().is_some() {
            self.pool.closed();
        }
    }
}
