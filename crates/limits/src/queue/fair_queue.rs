//! A queue for a few slots. A client that asks rarely gets a slot before one that asks often, because in the order of arrival some dozens of
//! clients with many connections would delay everybody else.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::client::ClientId;

/// The time after which a client's arrivals count half.
const HALF_LIFE: Duration = Duration::from_secs(60);
/// The most clients whose arrivals are counted, which bounds the memory. Further ones are treated as new.
const MOST_CLIENTS: usize = 4096;

/// The sizes of a [`FairQueue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FairQueueLimits {
    /// The most that are in the queue at the same time.
    pub waiters: usize,
    /// How many may hold a slot at the same time.
    pub slots: usize,
}

/// Gives out slots. Cheap to clone; all clones are the same queue.
#[derive(Debug, Clone)]
pub struct FairQueue {
    limits: FairQueueLimits,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the next waiter. Numbers grow, so they are the order of arrival.
    next: u64,
    taken_slots: usize,
    waiters: BTreeMap<u64, Entry>,
    arrivals: HashMap<ClientId, Arrivals>,
}

#[derive(Debug)]
struct Entry {
    client: ClientId,
    stage: Stage,
    /// Notified when the stage changes, and when the waiter is evicted, which removes its entry.
    changed: Arc<Notify>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// In the queue, without having asked for a slot.
    Arrived,
    Waiting,
    /// A slot is reserved for it, which [`Waiter::wait_for_slot`] has not returned yet.
    Admitted,
}

/// How often a client has joined lately.
#[derive(Debug)]
struct Arrivals {
    count: u32,
    since: Instant,
}

/// A client in the queue, which it leaves when this is dropped.
#[derive(Debug)]
pub struct Waiter {
    queue: FairQueue,
    number: u64,
    changed: Arc<Notify>,
}

/// A slot, released when this is dropped.
#[derive(Debug)]
pub struct Slot {
    queue: FairQueue,
    client: ClientId,
}

impl FairQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(limits: FairQueueLimits) -> Self {
        Self {
            limits,
            state: Arc::default(),
        }
    }

    /// Adds a client. A full queue evicts a waiter of the client that has joined most often; `None` if nobody has joined more often than this one.
    pub fn join(&self, client: ClientId) -> Option<Waiter> {
        let mut state = self.lock();
        let arrivals = state.count_arrival(client);
        if state.waiters.len() >= self.limits.waiters {
            state.evict_for(arrivals)?;
        }
        let number = state.next;
        state.next += 1;
        let changed = Arc::new(Notify::new());
        let entry = Entry {
            client,
            stage: Stage::Arrived,
            changed: Arc::clone(&changed),
        };
        state.waiters.insert(number, entry);
        Some(Waiter {
            queue: self.clone(),
            number,
            changed,
        })
    }

    /// Whether a waiter has asked for a slot and has none.
    #[must_use]
    pub fn has_waiting(&self) -> bool {
        let state = self.lock();
        state.waiters.values().any(|entry| entry.stage == Stage::Waiting)
    }

    fn release_slot(&self) {
        let mut state = self.lock();
        state.taken_slots = state.taken_slots.saturating_sub(1);
        state.grant_slots(self.limits.slots);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Counts an arrival of the client, and returns the count.
    fn count_arrival(&mut self, client: ClientId) -> u32 {
        let now = Instant::now();
        if self.arrivals.len() >= MOST_CLIENTS && !self.arrivals.contains_key(&client) {
            self.arrivals.retain(|_, arrivals| arrivals.count_at(now) > 0);
            if self.arrivals.len() >= MOST_CLIENTS {
                return 1;
            }
        }
        let arrivals = self
            .arrivals
            .entry(client)
            .or_insert(Arrivals { count: 0, since: now });
        arrivals.count = arrivals.count_at(now).saturating_add(1);
        arrivals.since = now;
        arrivals.count
    }

    fn count_arrivals(&self, client: ClientId) -> u32 {
        let arrivals = self.arrivals.get(&client);
        arrivals.map_or(1, |arrivals| arrivals.count_at(Instant::now()))
    }

    /// Evicts the newest waiter of the client with the most arrivals. `None`, and nobody, if it has no more than `arrivals`.
    fn evict_for(&mut self, arrivals: u32) -> Option<()> {
        let waiting = self
            .waiters
            .iter()
            .filter(|(_, entry)| entry.stage != Stage::Admitted);
        let (often, number) = waiting
            .map(|(number, entry)| (self.count_arrivals(entry.client), *number))
            .max()?;
        if often <= arrivals {
            return None;
        }
        let entry = self.waiters.remove(&number)?;
        entry.changed.notify_one();
        Some(())
    }

    /// Gives free slots to the clients with the fewest arrivals, and among equal ones to who waits longest.
    fn grant_slots(&mut self, slots: usize) {
        while self.taken_slots < slots {
            let waiting = self
                .waiters
                .iter()
                .filter(|(_, entry)| entry.stage == Stage::Waiting);
            let next = waiting
                .map(|(number, entry)| (self.count_arrivals(entry.client), *number))
                .min();
            let Some(entry) = next.and_then(|(_, number)| self.waiters.get_mut(&number)) else {
                return;
            };
            entry.stage = Stage::Admitted;
            entry.changed.notify_one();
            self.taken_slots += 1;
        }
    }
}

impl Arrivals {
    fn count_at(&self, now: Instant) -> u32 {
        let halvings = now.duration_since(self.since).as_secs() / HALF_LIFE.as_secs();
        u32::try_from(halvings)
            .ok()
            .and_then(|halvings| self.count.checked_shr(halvings))
            .unwrap_or(0)
    }
}

impl Waiter {
    /// Waits for a slot; `None` when the waiter is evicted.
    pub async fn wait_for_slot(self) -> Option<Slot> {
        self.ask_for_slot();
        loop {
            if let Some(outcome) = self.take_outcome() {
                return outcome;
            }
            self.changed.notified().await;
        }
    }

    /// Returns when the waiter is evicted, which may happen before it asks for a slot.
    pub async fn wait_until_evicted(&self) {
        while self.queue.lock().waiters.contains_key(&self.number) {
            self.changed.notified().await;
        }
    }

    fn ask_for_slot(&self) {
        let mut state = self.queue.lock();
        if let Some(entry) = state.waiters.get_mut(&self.number) {
            entry.stage = Stage::Waiting;
        }
        state.grant_slots(self.queue.limits.slots);
    }

    /// `Some(Some(slot))` for an admitted waiter, `Some(None)` for an evicted one, `None` for one that goes on waiting.
    fn take_outcome(&self) -> Option<Option<Slot>> {
        let mut state = self.queue.lock();
        let Some(entry) = state.waiters.get(&self.number) else {
            return Some(None);
        };
        let (stage, client) = (entry.stage, entry.client);
        (stage == Stage::Admitted).then(|| {
            state.waiters.remove(&self.number);
            Some(Slot {
                queue: self.queue.clone(),
                client,
            })
        })
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let entry = self.queue.lock().waiters.remove(&self.number);
        // A slot was reserved for it, and it has given up waiting before it took the slot.
        if entry.is_some_and(|entry| entry.stage == Stage::Admitted) {
            self.queue.release_slot();
        }
    }
}

impl Slot {
    /// Makes the client count as new, because what it wanted the slot for has succeeded.
    pub fn forget_arrivals(&self) {
        self.queue.lock().arrivals.remove(&self.client);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.queue.release_slot();
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    fn queue(waiters: usize, slots: usize) -> FairQueue {
        FairQueue::new(FairQueueLimits { waiters, slots })
    }

    fn client(address: &str) -> ClientId {
        ClientId::of_connection(Some(address.parse().expect("an address")))
    }

    fn join(queue: &FairQueue, address: &str) -> Waiter {
        queue.join(client(address)).expect("queue")
    }

    #[test]
    fn prod_011_who_waits_rarely_is_let_in_before_who_has_many_waiting() {
        let queue = queue(20, 1);
        let Poll::Ready(Some(held)) = poll(pin!(join(&queue, "10.0.0.9").wait_for_slot())) else {
            panic!("a slot is free");
        };
        let mut often: Vec<_> = (0..6)
            .map(|number| Box::pin(join(&queue, &format!("10.0.0.{}", number % 3)).wait_for_slot()))
            .collect();
        for waiting in &mut often {
            assert!(poll(waiting.as_mut()).is_pending());
        }
        let mut rarely = pin!(join(&queue, "192.0.2.1").wait_for_slot());
        assert!(poll(rarely.as_mut()).is_pending() && queue.has_waiting());

        drop(held);

        let Poll::Ready(Some(slot)) = poll(rarely.as_mut()) else {
            panic!("it came last, and least often");
        };
        assert!(
            often
                .iter_mut()
                .all(|waiting| poll(waiting.as_mut()).is_pending())
        );
        drop(slot);
        // Of clients with equally many arrivals the first one is served.
        assert!(matches!(poll(often[0].as_mut()), Poll::Ready(Some(_))));
    }

    #[test]
    fn prod_011_a_full_room_takes_in_who_comes_rarely_and_stays_as_large_as_it_is() {
        let queue = queue(4, 1);
        let waiters: Vec<_> = (0..4).map(|_| join(&queue, "10.0.0.1")).collect();
        assert!(queue.join(client("10.0.0.1")).is_none(), "nobody came more often");

        let newcomer = join(&queue, "192.0.2.1");

        assert_eq!(queue.lock().waiters.len(), 4);
        // The newest waiter of the client with the most arrivals is evicted.
        assert!(poll(pin!(waiters[3].wait_until_evicted())).is_ready());
        assert!(poll(pin!(waiters[0].wait_until_evicted())).is_pending());
        drop((waiters, newcomer));
        assert!(queue.lock().waiters.is_empty());
    }

    #[test]
    fn prod_011_a_place_that_nobody_takes_goes_to_the_next() {
        let queue = queue(4, 1);
        let Poll::Ready(Some(held)) = poll(pin!(join(&queue, "10.0.0.1").wait_for_slot())) else {
            panic!("a slot is free");
        };
        let mut first = Box::pin(join(&queue, "10.0.0.2").wait_for_slot());
        let mut second = pin!(join(&queue, "10.0.0.3").wait_for_slot());
        assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());

        drop(held);
        drop(first);

        let Poll::Ready(Some(slot)) = poll(second.as_mut()) else {
            panic!("the first one was admitted and has gone");
        };
        assert!(!queue.has_waiting());
        drop(slot);
        assert_eq!(queue.lock().taken_slots, 0);
    }

    #[test]
    fn prod_011_who_was_let_in_counts_as_new_and_the_memory_of_clients_is_bounded() {
        let queue = queue(2, 1);
        for _ in 0..3 {
            drop(join(&queue, "10.0.0.1"));
        }
        assert_eq!(queue.lock().count_arrivals(client("10.0.0.1")), 3);
        let Poll::Ready(Some(slot)) = poll(pin!(join(&queue, "10.0.0.1").wait_for_slot())) else {
            panic!("a slot is free");
        };
        slot.forget_arrivals();

        assert!(queue.lock().arrivals.is_empty());
        for number in 0..MOST_CLIENTS + 10 {
            queue
                .lock()
                .count_arrival(ClientId::Connection(u64::try_from(number).expect("small")));
        }
        assert_eq!(queue.lock().arrivals.len(), MOST_CLIENTS);
        let past = Arrivals {
            count: 7,
            since: Instant::now(),
        };
        assert_eq!(past.count_at(past.since + HALF_LIFE), 3);
        assert_eq!(past.count_at(past.since + HALF_LIFE * 64), 0);
    }
}
