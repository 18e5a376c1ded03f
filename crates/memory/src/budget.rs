//! A limit for the bytes of all large results and bodies that are in memory at the same time.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use bytes::Bytes;
use selvedge_limits::{ClientId, Share, Shares};
use tokio::sync::Notify;

use crate::{DatabasePart, metrics};

/// Smaller results and bodies are not counted: they are freed soon, and small requests would become slower by it.
pub const COUNTED_FROM: usize = 64 * 1024;

/// Bodies and messages of clients are counted from this size on. While one arrives the client decides how long it is kept, and with thousands of
/// connections those just below [`COUNTED_FROM`] would fill the memory.
pub const ARRIVING_COUNTED_FROM: usize = 4 * 1024;

/// How long a cancelled statement may be taken for one that was given up.
const RELIEF_MEMORY_MS: u64 = 3_000;

/// One client may hold a budget divided by this number.
const SHARES_PER_BUDGET: usize = 8;

/// A part of the memory: for large responses and bodies, from the moment when their size is known until they are freed.
/// Cheap to clone; shared by all threads.
#[derive(Debug, Clone)]
pub struct MemoryBudget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    most: usize,
    used: AtomicUsize,
    /// Whether the whole process uses so much memory that it takes no further requests.
    is_short: AtomicBool,
    /// When something was given up for lack of memory, in milliseconds since this was made; 0 for never.
    relieved_ms: AtomicU64,
    made: Instant,
    /// What clients have reserved, each an eighth of the budget at most.
    shares: Shares,
    /// What PostgreSQL may take for statements with large bodies.
    database: DatabasePart,
    /// Notified again and again while so much memory is in use that threads should return what they have freed.
    crowded: Notify,
}

/// Reserved bytes, returned when this is dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: MemoryBudget,
    bytes: usize,
    /// The same bytes as the client's; `None` for what no client is known for.
    share: Option<Share>,
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self::unlimited()
    }
}

impl MemoryBudget {
    /// Creates a budget of `most` bytes, for a database whose memory is not counted.
    pub fn new(most: usize) -> Self {
        Self::with_database(most, DatabasePart::unlimited())
    }

    /// Creates a budget of `most` bytes beside the part of a database that shares the limit.
    pub fn with_database(most: usize, database: DatabasePart) -> Self {
        Self(Arc::new(Inner {
            most,
            database,
            used: AtomicUsize::new(0),
            is_short: AtomicBool::new(false),
            relieved_ms: AtomicU64::new(0),
            made: Instant::now(),
            crowded: Notify::new(),
            shares: Shares::new((most < usize::MAX).then_some(most / SHARES_PER_BUDGET)),
        }))
    }

    /// A budget that is never used up.
    pub fn unlimited() -> Self {
        Self::new(usize::MAX)
    }

    /// Reserves bytes. `None` when they exceed what is left.
    pub fn reserve(&self, bytes: usize) -> Option<Reservation> {
        self.reserve_within(self.0.most, bytes)
    }

    /// Reserves bytes for a client. `None` when they exceed what is left of the budget or of the client's share: what strangers make the
    /// server hold is reserved by this, so that one of them cannot use up what all share.
    pub fn reserve_for(&self, client: ClientId, bytes: usize) -> Option<Reservation> {
        let Some(share) = self.take_share(client, bytes) else {
            metrics::count_refusal();
            return None;
        };
        let mut reservation = self.reserve(bytes)?;
        reservation.share = share;
        Some(reservation)
    }

    /// Counts bytes as the client's. `None` beyond its share, unless half of the budget would still be free: alone, a client may have more.
    fn take_share(&self, client: ClientId, bytes: usize) -> Option<Option<Share>> {
        match self.has_half_left(bytes) {
            true => Some(self.0.shares.take_beyond(client, bytes)),
            false => self.0.shares.take(client, bytes).ok(),
        }
    }

    fn has_half_left(&self, bytes: usize) -> bool {
        self.used().saturating_add(bytes) <= self.0.most / 2
    }

    /// Reserves bytes for the response to a write, which cannot be undone any more: up to a quarter above the budget.
    pub fn reserve_for_write(&self, bytes: usize) -> Option<Reservation> {
        self.reserve_within(self.0.most.saturating_add(self.0.most / 4), bytes)
    }

    fn reserve_within(&self, most: usize, bytes: usize) -> Option<Reservation> {
        let take = |used: usize| used.checked_add(bytes).filter(|used| *used <= most);
        let taken = self
            .0
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        if taken.is_err() {
            metrics::count_refusal();
            return None;
        }
        Some(Reservation {
            budget: self.clone(),
            bytes,
            share: None,
        })
    }

    /// What PostgreSQL may take for statements with large bodies.
    pub fn database(&self) -> &DatabasePart {
        &self.0.database
    }

    /// Bytes that are reserved.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Whether the whole process uses so much memory that it should take no further requests.
    pub fn is_short(&self) -> bool {
        self.0.is_short.load(Ordering::Relaxed)
    }

    /// Whether statements were cancelled for lack of memory in the last seconds: PostgreSQL does not say for what it was.
    pub fn was_relieved(&self) -> bool {
        let relieved = self.0.relieved_ms.load(Ordering::Relaxed);
        relieved > 0 && self.age_ms().saturating_sub(relieved) < RELIEF_MEMORY_MS
    }

    /// Waits until so much memory is in use that threads should return what they have freed.
    pub(crate) async fn wait_until_crowded(&self) {
        self.0.crowded.notified().await;
    }

    pub(crate) fn note_crowded(&self) {
        self.0.crowded.notify_waiters();
    }

    pub(crate) fn note_relief(&self) {
        self.0.relieved_ms.store(self.age_ms().max(1), Ordering::Relaxed);
    }

    fn age_ms(&self) -> u64 {
        u64::try_from(self.0.made.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(crate) fn set_short(&self, is_short: bool) {
        self.0.is_short.store(is_short, Ordering::Relaxed);
    }

    /// Whether there are other handles to this budget than the watch's, which ends when there are none.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

impl Reservation {
    /// Reserves further bytes. False when they exceed what is left; then nothing has changed.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let may_exceed = self.budget.has_half_left(bytes);
        let Some(mut more) = self.budget.reserve(bytes) else {
            return false;
        };
        if let Some(share) = &mut self.share {
            match may_exceed {
                true => share.grow_beyond(bytes),
                false if share.grow(bytes).is_err() => {
                    metrics::count_refusal();
                    return false;
                }
                false => {}
            }
        }
        self.bytes += mem::take(&mut more.bytes);
        true
    }

    /// Ties the reservation to bytes: it is returned when they and all slices of them have been dropped.
    pub fn hold(self, bytes: Bytes) -> Bytes {
        Bytes::from_owner(ReservedBytes {
            bytes,
            _reservation: self,
        })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.0.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Bytes with their reservation. The fields are dropped in this order, so memory is free before others may reserve it.
struct ReservedBytes {
    bytes: Bytes,
    _reservation: Reservation,
}

impl AsRef<[u8]> for ReservedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_reserved_than_the_budget_has() {
        let budget = MemoryBudget::new(100);

        let first = budget.reserve(60).expect("there is room");
        assert!(budget.reserve(41).is_none());
        let mut second = budget.reserve(30).expect("there is room");
        assert!(second.grow(10));
        assert!(!second.grow(1));
        assert_eq!(budget.used(), 100);
        drop(first);
        assert_eq!(budget.used(), 40);
        drop(second);

        assert_eq!(budget.used(), 0);
        assert!(budget.reserve(usize::MAX).is_none());
    }

    #[test]
    fn gw_049_a_client_reserves_an_eighth_of_the_budget_while_more_than_half_of_it_is_used() {
        let budget = MemoryBudget::new(80);
        let (one, other) = (ClientId::of_connection(None), ClientId::of_connection(None));

        let alone = budget.reserve_for(one, 40).expect("half of it is left");
        assert!(budget.reserve_for(one, 1).is_none(), "more than its share");
        let mut of_other = budget.reserve_for(other, 8).expect("its share");
        assert!(!of_other.grow(3));
        assert!(of_other.grow(2));
        assert_eq!(budget.used(), 50);
        drop(alone);

        assert!(budget.reserve_for(one, 10).is_some());
        drop(of_other);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_budget_remembers_for_a_moment_that_something_was_given_up() {
        let budget = MemoryBudget::new(100);

        assert!(!budget.was_relieved());
        budget.note_relief();

        assert!(budget.was_relieved());
    }

    #[test]
    fn responses_to_writes_have_a_quarter_more() {
        let budget = MemoryBudget::new(100);
        let _all = budget.reserve(100).expect("there is room");

        let written = budget.reserve_for_write(25).expect("a quarter more");

        assert!(budget.reserve_for_write(1).is_none());
        drop(written);
    }

    #[test]
    fn a_reservation_lasts_until_the_last_slice_is_dropped() {
        let budget = MemoryBudget::new(100);
        let reservation = budget.reserve(10).expect("there is room");

        let whole = reservation.hold(Bytes::from(vec![b'x'; 10]));
        let slice = whole.slice(3..5);
        drop(whole);
        assert_eq!((budget.used(), slice.as_ref()), (10, &b"xx"[..]));
        drop(slice);

        assert_eq!(budget.used(), 0);
    }
}
