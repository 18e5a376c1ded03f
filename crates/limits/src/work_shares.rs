//! What clients have in progress on one thread and its connections: a client that asks for much waits for its own work, so that others need not
//! wait for it.
//!
//! The limits apply while another client has work in progress or has had it a moment ago. One that is alone has the thread for itself.

use std::cell::{Cell, Ref, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::timeout;

use crate::Presence;
use crate::client::ClientId;

/// Clients without work are forgotten when there are more than this.
const MOST_CLIENTS: usize = 1024;
/// How long work waits for a sign that it may begin.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// How much one client may have in progress while others are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkLimits {
    /// Short work begins while what is in progress of it is expected to take less than this.
    pub short: Duration,
    /// How many pieces of long work are in progress at the same time.
    pub long: usize,
    /// Work that has been in progress for this time does not count any more: it may wait for something that the client's next work brings.
    pub counted_for: Duration,
}

/// Work that is about to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Is expected to take this time.
    Short(Duration),
    /// Takes long, or nobody knows how long.
    Long,
}

/// Counts the work of clients on one thread. Cheap to clone; all clones count together.
#[derive(Debug, Clone)]
pub struct WorkShares(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    limits: WorkLimits,
    /// Who is there, also beside this thread: its processes of the database have their cores in common with those of others.
    presence: Presence,
    clients: RefCell<HashMap<ClientId, Rc<Client>>>,
    /// Pieces in progress of all clients.
    in_progress: Cell<usize>,
}

#[derive(Debug, Default)]
struct Client {
    /// Pieces in progress, also those that do not count any more.
    in_progress: Cell<usize>,
    short: Lane,
    long: Lane,
}

/// Work of one kind.
#[derive(Debug, Default)]
struct Lane {
    pieces: RefCell<Pieces>,
    /// Wakes the first who waits.
    freed: Notify,
    waiting: Cell<usize>,
}

#[derive(Debug, Default)]
struct Pieces {
    /// In the order in which they began.
    counted: VecDeque<Piece>,
    /// Of all that are counted.
    expected: Duration,
    last_number: u64,
}

#[derive(Debug)]
struct Piece {
    number: u64,
    began: Instant,
    expected: Duration,
}

/// Work in progress, until this is dropped.
#[derive(Debug)]
pub struct WorkShare {
    shares: WorkShares,
    client: Rc<Client>,
    is_long: bool,
    number: u64,
}

impl WorkShares {
    /// Nothing is in progress yet.
    pub fn new(limits: WorkLimits, presence: Presence) -> Self {
        Self(Rc::new(Inner {
            limits,
            presence,
            clients: RefCell::default(),
            in_progress: Cell::new(0),
        }))
    }

    /// Begins a client's work. `None` while it has as much in progress as it may have beside others; then it waits by [`Self::begin`].
    pub fn begin_at_once(&self, client: ClientId, work: Work) -> Option<WorkShare> {
        let now = Instant::now();
        self.0.presence.note(client);
        let known = self.client(client);
        let lane = known.lane(work);
        (lane.waiting.get() == 0 && self.may_begin(&known, work, now)).then(|| self.add(&known, work, now))
    }

    /// Waits until a client's work may begin, behind what it asked for before.
    pub async fn begin(&self, client: ClientId, work: Work) -> WorkShare {
        let known = self.client(client);
        let lane = known.lane(work);
        let waiting = Waiting::join(lane);
        loop {
            let now = Instant::now();
            if self.may_begin(&known, work, now) {
                drop(waiting);
                let share = self.add(&known, work, now);
                // It was woken for one piece that has ended, and there may be room for more.
                lane.freed.notify_one();
                return share;
            }
            // Also when its own work goes on: that may not count any more, or the others may have gone.
            let _ = timeout(LOOK_AGAIN, lane.freed.notified()).await;
        }
    }

    fn may_begin(&self, client: &Client, work: Work, now: Instant) -> bool {
        let (limits, lane) = (&self.0.limits, client.lane(work));
        let pieces = lane.forget_older(limits.counted_for, now);
        let has_room = match work {
            Work::Short(_) => pieces.expected < limits.short,
            Work::Long => pieces.counted.len() < limits.long,
        };
        has_room || pieces.counted.is_empty() || !self.are_others_there(client)
    }

    fn are_others_there(&self, client: &Client) -> bool {
        self.0.in_progress.get() > client.in_progress.get() || self.0.presence.has_several()
    }

    fn add(&self, client: &Rc<Client>, work: Work, now: Instant) -> WorkShare {
        let expected = match work {
            Work::Short(expected) => expected,
            Work::Long => Duration::ZERO,
        };
        for in_progress in [&self.0.in_progress, &client.in_progress] {
            in_progress.set(in_progress.get() + 1);
        }
        WorkShare {
            shares: self.clone(),
            client: Rc::clone(client),
            is_long: work == Work::Long,
            number: client.lane(work).pieces.borrow_mut().add(expected, now),
        }
    }

    fn client(&self, client: ClientId) -> Rc<Client> {
        let mut clients = self.0.clients.borrow_mut();
        if let Some(known) = clients.get(&client) {
            return Rc::clone(known);
        }
        if clients.len() >= MOST_CLIENTS {
            // Work in progress holds its client.
            clients.retain(|_, known| Rc::strong_count(known) > 1);
        }
        Rc::clone(clients.entry(client).or_default())
    }
}

impl Client {
    fn lane(&self, work: Work) -> &Lane {
        match work {
            Work::Short(_) => &self.short,
            Work::Long => &self.long,
        }
    }
}

impl Lane {
    /// Removes what has been in progress for so long that it does not count.
    fn forget_older(&self, counted_for: Duration, now: Instant) -> Ref<'_, Pieces> {
        let is_old = |piece: &Piece| now.saturating_duration_since(piece.began) >= counted_for;
        if self.pieces.borrow().counted.front().is_some_and(is_old) {
            let mut pieces = self.pieces.borrow_mut();
            while pieces.counted.front().is_some_and(is_old) {
                pieces.remove(0);
            }
        }
        self.pieces.borrow()
    }
}

impl Pieces {
    fn add(&mut self, expected: Duration, began: Instant) -> u64 {
        self.last_number += 1;
        self.expected += expected;
        self.counted.push_back(Piece {
            number: self.last_number,
            began,
            expected,
        });
        self.last_number
    }

    fn remove(&mut self, index: usize) {
        if let Some(removed) = self.counted.remove(index) {
            self.expected = self.expected.saturating_sub(removed.expected);
        }
    }
}

impl Drop for WorkShare {
    fn drop(&mut self) {
        for in_progress in [&self.shares.0.in_progress, &self.client.in_progress] {
            in_progress.set(in_progress.get().saturating_sub(1));
        }
        let lane = match self.is_long {
            true => &self.client.long,
            false => &self.client.short,
        };
        {
            let mut pieces = lane.pieces.borrow_mut();
            let found = pieces
                .counted
                .binary_search_by_key(&self.number, |piece| piece.number);
            if let Ok(index) = found {
                pieces.remove(index);
            }
        }
        if lane.waiting.get() > 0 {
            lane.freed.notify_one();
        }
    }
}

/// Somebody who waits. A guard, because a wait can be given up at any time.
struct Waiting<'a>(&'a Lane);

impl<'a> Waiting<'a> {
    fn join(lane: &'a Lane) -> Self {
        lane.waiting.set(lane.waiting.get() + 1);
        Self(lane)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.set(self.0.waiting.get().saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    const LIMITS: WorkLimits = WorkLimits {
        short: Duration::from_millis(20),
        long: 2,
        counted_for: Duration::from_secs(60),
    };
    const MILLISECONDS_5: Work = Work::Short(Duration::from_millis(5));

    fn clients() -> [ClientId; 2] {
        [(); 2].map(|()| ClientId::of_connection(None))
    }

    /// How many pieces begin at once.
    fn begin_all(shares: &WorkShares, client: ClientId, work: Work) -> Vec<WorkShare> {
        std::iter::from_fn(|| shares.begin_at_once(client, work))
            .take(100)
            .collect()
    }

    #[test]
    fn gw_049_a_client_has_a_share_of_the_work_in_progress_while_others_are_there() {
        let shares = WorkShares::new(LIMITS, Presence::lasting(Duration::from_secs(3600)));
        let [one, other] = clients();
        assert_eq!(begin_all(&shares, one, Work::Long).len(), 100, "it is alone");

        let of_other = begin_all(&shares, other, Work::Long);
        let short = begin_all(&shares, one, MILLISECONDS_5);
        let long = begin_all(&shares, one, Work::Long);

        assert_eq!((of_other.len(), short.len(), long.len()), (2, 4, 2));
        drop(short);
        let longer = begin_all(&shares, one, Work::Short(Duration::from_secs(1)));
        assert_eq!(longer.len(), 1, "one is never too long");
    }

    #[test]
    fn gw_049_work_begins_when_the_work_of_the_same_client_has_ended() {
        let shares = WorkShares::new(LIMITS, Presence::lasting(Duration::from_secs(3600)));
        let [one, other] = clients();
        let mut running = begin_all(&shares, one, MILLISECONDS_5);
        assert!(shares.begin_at_once(other, MILLISECONDS_5).is_some());
        running.truncate(4);
        let mut cx = Context::from_waker(Waker::noop());
        {
            let mut given_up = Box::pin(shares.begin(one, MILLISECONDS_5));
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .build();
            let runtime = runtime.expect("a runtime");
            let _entered = runtime.enter();
            let mut first = pin!(shares.begin(one, MILLISECONDS_5));
            let mut second = pin!(shares.begin(one, MILLISECONDS_5));
            assert!(given_up.as_mut().poll(&mut cx).is_pending());
            assert!(first.as_mut().poll(&mut cx).is_pending());
            assert!(second.as_mut().poll(&mut cx).is_pending());
            assert!(shares.begin_at_once(one, MILLISECONDS_5).is_none(), "others wait");
            assert!(
                shares.begin_at_once(other, MILLISECONDS_5).is_some(),
                "not for it"
            );

            drop(given_up);
            running.pop();

            let begun = first.as_mut().poll(&mut cx);
            assert!(begun.is_ready());
            assert!(second.as_mut().poll(&mut cx).is_pending());
            drop(begun);
            assert!(second.as_mut().poll(&mut cx).is_ready());
        }
        drop(running);
        assert!(shares.begin_at_once(one, MILLISECONDS_5).is_some());
    }

    #[tokio::test]
    async fn gw_049_work_that_has_been_in_progress_for_long_keeps_its_client_from_nothing() {
        let limits = WorkLimits {
            counted_for: Duration::from_millis(50),
            ..LIMITS
        };
        let shares = WorkShares::new(limits, Presence::lasting(Duration::from_secs(3600)));
        let [one, other] = clients();
        let _of_other = shares.begin_at_once(other, Work::Long);
        let waits_for_the_last = begin_all(&shares, one, Work::Long);
        assert_eq!(waits_for_the_last.len(), 2);

        let last = shares.begin(one, Work::Long).await;

        drop(waits_for_the_last);
        drop(last);
        assert!(shares.begin_at_once(one, Work::Long).is_some());
    }

    #[test]
    fn gw_049_clients_without_work_are_forgotten() {
        let shares = WorkShares::new(LIMITS, Presence::lasting(Duration::from_secs(3600)));
        let kept = shares.begin_at_once(ClientId::of_connection(None), Work::Long);
        for _ in 0..10 * MOST_CLIENTS {
            let _share = shares.begin_at_once(ClientId::of_connection(None), Work::Long);
        }

        assert!(shares.0.clients.borrow().len() <= MOST_CLIENTS);
        assert!(kept.is_some());
    }
}
