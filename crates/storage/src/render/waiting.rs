//! Requests that wait for a rendering: how many there may be, and whose turn it is.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Mutex as AsyncMutex;

/// How many requests may wait; further ones are refused immediately.
const MAX_WAITING: usize = 256;
/// How many may wait for one client while more than half of the places are taken.
const MAX_WAITING_OF_CLIENT: usize = MAX_WAITING / 8;

/// The requests that wait in this process. A client is an address, or a network of IPv6; `None` is the server itself.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    counts: Mutex<Counts>,
    /// The places of clients in the line for large pictures.
    places: Mutex<HashMap<IpAddr, Weak<AsyncMutex<()>>>>,
}

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    by_client: HashMap<IpAddr, usize>,
}

impl Waiting {
    /// Counts a request as waiting until the result is dropped; `None` when too many wait already.
    pub(super) fn register(&self, client: Option<IpAddr>) -> Option<WaitingRequest<'_>> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let of_client = client.and_then(|client| counts.by_client.get(&client).copied());
        let is_crowded = counts.all >= MAX_WAITING / 2;
        if counts.all >= MAX_WAITING || (is_crowded && of_client.unwrap_or(0) >= MAX_WAITING_OF_CLIENT) {
            return None;
        }
        counts.all += 1;
        if let Some(client) = client {
            *counts.by_client.entry(client).or_default() += 1;
        }
        Some(WaitingRequest {
            waiting: self,
            client,
        })
    }

    /// The place of a client in the line for large pictures. Only the request that holds it stands in the line, so that clients
    /// take turns, however many requests one of them sends.
    pub(super) fn place_of(&self, client: IpAddr) -> Arc<AsyncMutex<()>> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.retain(|_, place| place.strong_count() > 0);
        if let Some(place) = places.get(&client).and_then(Weak::upgrade) {
            return place;
        }
        let place = Arc::new(AsyncMutex::new(()));
        places.insert(client, Arc::downgrade(&place));
        place
    }
}

/// A request that is counted as waiting; no longer counted when dropped.
pub(super) struct WaitingRequest<'a> {
    waiting: &'a Waiting,
    client: Option<IpAddr>,
}

impl Drop for WaitingRequest<'_> {
    fn drop(&mut self) {
        let mut counts = self.waiting.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all -= 1;
        let Some(client) = self.client else { return };
        if let Some(count) = counts.by_client.get_mut(&client) {
            *count -= 1;
            if *count == 0 {
                counts.by_client.remove(&client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_103_one_client_does_not_take_all_places_of_waiting_requests() {
        let waiting = Waiting::default();
        let client = |n: u8| Some(IpAddr::from([192, 0, 2, n]));

        let mut held: Vec<_> = (0..500).map_while(|_| waiting.register(client(1))).collect();
        assert_eq!(held.len(), MAX_WAITING / 2);
        for n in 2..=5 {
            let of_other: Vec<_> = (0..500).map_while(|_| waiting.register(client(n))).collect();
            assert_eq!(of_other.len(), MAX_WAITING_OF_CLIENT);
            held.extend(of_other);
        }
        assert!(waiting.register(client(6)).is_none() && waiting.register(None).is_none());

        held.clear();
        assert!(
            waiting
                .counts
                .lock()
                .expect("nobody panicked")
                .by_client
                .is_empty()
        );
        assert!(waiting.register(client(1)).is_some());
    }
}
