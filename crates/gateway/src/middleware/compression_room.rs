//! Cores and memory that compressing one response takes. There is little of both, so a response that finds no room is sent as it is. One client gets
//! half of the room: the cores that compress its responses are missing elsewhere.

use std::sync::{Arc, LazyLock};

use actix_web::{HttpMessage as _, HttpRequest};
use bytes::Bytes;
use selvedge_limits::{ClientId, Share, Shares};
use selvedge_memory::{COUNTED_FROM, MemoryBudget, Reservation};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Caller;

/// Large responses that are compressed at the same time, for each core.
const AT_ONCE_PER_CORE: usize = 2;
/// What the slower of the codings, Brotli, keeps beside a body: its tables, and its window of twice the body, up to a length.
/// Measured: 25 MB for a body of 5 MB.
const MOST_TABLES: usize = 24 * 1024 * 1024;
const TABLES_PER_BYTE: usize = 8;

static PLACES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(places())));
static OF_CLIENTS: LazyLock<Shares> = LazyLock::new(|| Shares::new(Some((places() / 2).max(1))));

/// Large responses that are compressed at the same time.
fn places() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from) * AT_ONCE_PER_CORE
}

/// A place and memory for one response; what it needs only while it is compressed is returned by [`Room::hold`].
#[derive(Debug, Default)]
pub(super) struct Room {
    /// `None` for small responses, which are done soon.
    working: Option<Working>,
    result: Option<Reservation>,
}

#[derive(Debug)]
struct Working {
    _share: Option<Share>,
    _place: OwnedSemaphorePermit,
    _tables: Option<Reservation>,
}

impl Room {
    /// Takes room for a body of this length. `None` while others have it.
    pub(super) fn take(request: &HttpRequest, length: usize) -> Option<Self> {
        if length < COUNTED_FROM {
            return Some(Self::default());
        }
        let client = Caller::client_of(request);
        let (share, place) = take_place(client)?;
        let caller = request.extensions().get::<Caller>().cloned();
        let reserve = |memory: &MemoryBudget, bytes| memory.reserve_for(client, bytes);
        let (tables, result) = match caller {
            Some(caller) => (
                Some(reserve(
                    caller.memory(),
                    (length * TABLES_PER_BYTE).min(MOST_TABLES),
                )?),
                Some(reserve(caller.memory(), length)?),
            ),
            None => (None, None),
        };
        Some(Self {
            working: Some(Working {
                _share: share,
                _place: place,
                _tables: tables,
            }),
            result,
        })
    }

    /// The compressed body, counted until it is dropped. The place is free then.
    pub(super) fn hold(self, body: Bytes) -> Bytes {
        drop(self.working);
        match self.result {
            Some(reservation) => reservation.hold(body),
            None => body,
        }
    }
}

/// A place of a client. `None` while it has half of them, or all are taken.
fn take_place(client: ClientId) -> Option<(Option<Share>, OwnedSemaphorePermit)> {
    let share = OF_CLIENTS.take(client, 1).ok()?;
    Some((share, Arc::clone(&PLACES).try_acquire_owned().ok()?))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn gw_049_only_so_many_large_responses_are_compressed_at_once_and_small_ones_always() {
        let request = TestRequest::get().to_http_request();
        let taken: Vec<_> = std::iter::from_fn(|| Room::take(&request, COUNTED_FROM))
            .take(10_000)
            .collect();

        assert!((2..10_000).contains(&taken.len()), "{}", taken.len());
        assert!(Room::take(&request, COUNTED_FROM - 1).is_some());
        drop(taken);
        assert!(Room::take(&request, COUNTED_FROM).is_some());

        // In the same test, because tests share the places.
        let [one, other] = [(); 2].map(|()| ClientId::of_connection(None));
        let of_one: Vec<_> = std::iter::from_fn(|| take_place(one)).take(10_000).collect();
        assert_eq!(of_one.len(), places() / 2);
        assert!(take_place(other).is_some());
    }
}
