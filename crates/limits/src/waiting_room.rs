//! A room in which clients wait for one of a few places: whoever comes rarely is let in before whoever comes often, so that some dozens of clients
//! with many connections keep nobody else out.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::client::ClientId;

/// After this time half of a client's arrivals are forgotten.
const HALF_LIFE: Duration = Duration::from_secs(60);
/// The most clients whose arrivals are remembered. Each further one counts as new.
const MOST_CLIENTS: usize = 4096;

/// How many a [`WaitingRoom`] lets in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingRoomLimits {
    /// The most guests that wait at the same time.
    pub guests: usize,
    /// The places for which they wait.
    pub places: usize,
}

/// Lets guests wait for places. Cheap to clone; all clones are the same room.
#[derive(Debug, Clone)]
pub struct WaitingRoom {
    limits: WaitingRoomLimits,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the next guest: who came earlier has the smaller one.
    next: u64,
    taken_places: usize,
    guests: BTreeMap<u64, Seat>,
    arrivals: HashMap<ClientId, Arrivals>,
}

#[derive(Debug)]
struct Seat {
    client: ClientId,
    stage: Stage,
    /// Notified when the stage changes, and when the guest is sent away, which ends its seat.
    changed: Arc<Notify>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It does not ask for a place yet.
    Arrived,
    Waits,
    /// It has a place, and does not know it yet.
    Admitted,
}

/// How often a client has come lately.
#[derive(Debug)]
struct Arrivals {
    count: u32,
    since: Instant,
}

/// Somebody in the room, who leaves it when this is dropped.
#[derive(Debug)]
pub struct Guest {
    room: WaitingRoom,
    number: u64,
    changed: Arc<Notify>,
}

/// A place, given back when this is dropped.
#[derive(Debug)]
pub struct Place {
    room: WaitingRoom,
    client: ClientId,
}

impl WaitingRoom {
    /// An empty room.
    #[must_use]
    pub fn new(limits: WaitingRoomLimits) -> Self {
        Self {
            limits,
            state: Arc::default(),
        }
    }

    /// Lets a client in. Where the room is full a guest of the client that has come most often is sent away for it; `None` if nobody has come more
    /// often than this one.
    pub fn enter(&self, client: ClientId) -> Option<Guest> {
        let mut state = self.lock();
        let arrivals = state.note_arrival(client);
        if state.guests.len() >= self.limits.guests {
            state.send_away_for(arrivals)?;
        }
        let number = state.next;
        state.next += 1;
        let changed = Arc::new(Notify::new());
        let seat = Seat {
            client,
            stage: Stage::Arrived,
            changed: Arc::clone(&changed),
        };
        state.guests.insert(number, seat);
        Some(Guest {
            room: self.clone(),
            number,
            changed,
        })
    }

    /// Whether somebody waits for a place.
    #[must_use]
    pub fn has_waiting(&self) -> bool {
        let state = self.lock();
        state.guests.values().any(|seat| seat.stage == Stage::Waits)
    }

    fn give_back_place(&self) {
        let mut state = self.lock();
        state.taken_places = state.taken_places.saturating_sub(1);
        state.fill_places(self.limits.places);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Counts an arrival, and returns how many the client has by now.
    fn note_arrival(&mut self, client: ClientId) -> u32 {
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

    fn arrivals_of(&self, client: ClientId) -> u32 {
        let arrivals = self.arrivals.get(&client);
        arrivals.map_or(1, |arrivals| arrivals.count_at(Instant::now()))
    }

    /// Ends the last seat of the client that has come most often, if that is more often than `arrivals`.
    fn send_away_for(&mut self, arrivals: u32) -> Option<()> {
        let waiting = self
            .guests
            .iter()
            .filter(|(_, seat)| seat.stage != Stage::Admitted);
        let (often, number) = waiting
            .map(|(number, seat)| (self.arrivals_of(seat.client), *number))
            .max()?;
        if often <= arrivals {
            return None;
        }
        let seat = self.guests.remove(&number)?;
        seat.changed.notify_one();
        Some(())
    }

    /// Gives free places to those who came least often, and among these to who waits longest.
    fn fill_places(&mut self, places: usize) {
        while self.taken_places < places {
            let waiting = self.guests.iter().filter(|(_, seat)| seat.stage == Stage::Waits);
            let next = waiting
                .map(|(number, seat)| (self.arrivals_of(seat.client), *number))
                .min();
            let Some(seat) = next.and_then(|(_, number)| self.guests.get_mut(&number)) else {
                return;
            };
            seat.stage = Stage::Admitted;
            seat.changed.notify_one();
            self.taken_places += 1;
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

impl Guest {
    /// Waits for a place; `None` when the guest is sent away.
    pub async fn wait_for_place(self) -> Option<Place> {
        self.ask_for_place();
        loop {
            if let Some(outcome) = self.take_outcome() {
                return outcome;
            }
            self.changed.notified().await;
        }
    }

    /// Returns when the guest is sent away before it asks for a place.
    pub async fn wait_until_sent_away(&self) {
        while self.room.lock().guests.contains_key(&self.number) {
            self.changed.notified().await;
        }
    }

    fn ask_for_place(&self) {
        let mut state = self.room.lock();
        if let Some(seat) = state.guests.get_mut(&self.number) {
            seat.stage = Stage::Waits;
        }
        state.fill_places(self.room.limits.places);
    }

    /// The place of an admitted guest, `Some(None)` for one that was sent away, and `None` while it waits.
    fn take_outcome(&self) -> Option<Option<Place>> {
        let mut state = self.room.lock();
        let Some(seat) = state.guests.get(&self.number) else {
            return Some(None);
        };
        let (stage, client) = (seat.stage, seat.client);
        (stage == Stage::Admitted).then(|| {
            state.guests.remove(&self.number);
            Some(Place {
                room: self.room.clone(),
                client,
            })
        })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let seat = self.room.lock().guests.remove(&self.number);
        // Admitted, and given up before it knew.
        if seat.is_some_and(|seat| seat.stage == Stage::Admitted) {
            self.room.give_back_place();
        }
    }
}

impl Place {
    /// Forgets how often the client has come: what it came for was granted.
    pub fn forget_arrivals(&self) {
        self.room.lock().arrivals.remove(&self.client);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.room.give_back_place();
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

    fn room(guests: usize, places: usize) -> WaitingRoom {
        WaitingRoom::new(WaitingRoomLimits { guests, places })
    }

    fn client(address: &str) -> ClientId {
        ClientId::of_connection(Some(address.parse().expect("an address")))
    }

    fn enter(room: &WaitingRoom, address: &str) -> Guest {
        room.enter(client(address)).expect("room")
    }

    #[test]
    fn prod_011_who_waits_rarely_is_let_in_before_who_has_many_waiting() {
        let room = room(20, 1);
        let Poll::Ready(Some(held)) = poll(pin!(enter(&room, "10.0.0.9").wait_for_place())) else {
            panic!("a place is free");
        };
        let mut often: Vec<_> = (0..6)
            .map(|number| Box::pin(enter(&room, &format!("10.0.0.{}", number % 3)).wait_for_place()))
            .collect();
        for waiting in &mut often {
            assert!(poll(waiting.as_mut()).is_pending());
        }
        let mut rarely = pin!(enter(&room, "192.0.2.1").wait_for_place());
        assert!(poll(rarely.as_mut()).is_pending() && room.has_waiting());

        drop(held);

        let Poll::Ready(Some(place)) = poll(rarely.as_mut()) else {
            panic!("it came last, and least often");
        };
        assert!(
            often
                .iter_mut()
                .all(|waiting| poll(waiting.as_mut()).is_pending())
        );
        drop(place);
        // Among those who came as often, who came first.
        assert!(matches!(poll(often[0].as_mut()), Poll::Ready(Some(_))));
    }

    #[test]
    fn prod_011_a_full_room_takes_in_who_comes_rarely_and_stays_as_large_as_it_is() {
        let room = room(4, 1);
        let guests: Vec<_> = (0..4).map(|_| enter(&room, "10.0.0.1")).collect();
        assert!(room.enter(client("10.0.0.1")).is_none(), "nobody came more often");

        let newcomer = enter(&room, "192.0.2.1");

        assert_eq!(room.lock().guests.len(), 4);
        // The last one of who came most often had to leave.
        assert!(poll(pin!(guests[3].wait_until_sent_away())).is_ready());
        assert!(poll(pin!(guests[0].wait_until_sent_away())).is_pending());
        drop((guests, newcomer));
        assert!(room.lock().guests.is_empty());
    }

    #[test]
    fn prod_011_a_place_that_nobody_takes_goes_to_the_next() {
        let room = room(4, 1);
        let Poll::Ready(Some(held)) = poll(pin!(enter(&room, "10.0.0.1").wait_for_place())) else {
            panic!("a place is free");
        };
        let mut first = Box::pin(enter(&room, "10.0.0.2").wait_for_place());
        let mut second = pin!(enter(&room, "10.0.0.3").wait_for_place());
        assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());

        drop(held);
        drop(first);

        let Poll::Ready(Some(place)) = poll(second.as_mut()) else {
            panic!("the first one was admitted and has gone");
        };
        assert!(!room.has_waiting());
        drop(place);
        assert_eq!(room.lock().taken_places, 0);
    }

    #[test]
    fn prod_011_who_was_let_in_counts_as_new_and_the_memory_of_clients_is_bounded() {
        let room = room(2, 1);
        for _ in 0..3 {
            drop(enter(&room, "10.0.0.1"));
        }
        assert_eq!(room.lock().arrivals_of(client("10.0.0.1")), 3);
        let Poll::Ready(Some(place)) = poll(pin!(enter(&room, "10.0.0.1").wait_for_place())) else {
            panic!("a place is free");
        };
        place.forget_arrivals();

        assert!(room.lock().arrivals.is_empty());
        for number in 0..MOST_CLIENTS + 10 {
            room.lock()
                .note_arrival(ClientId::Connection(u64::try_from(number).expect("small")));
        }
        assert_eq!(room.lock().arrivals.len(), MOST_CLIENTS);
        let past = Arrivals {
            count: 7,
            since: Instant::now(),
        };
        assert_eq!(past.count_at(past.since + HALF_LIFE), 3);
        assert_eq!(past.count_at(past.since + HALF_LIFE * 64), 0);
    }
}
